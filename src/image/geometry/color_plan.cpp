#include "image/geometry/color_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "image/numbers.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/ops.h"

namespace iruka::image {
namespace {

using Kind = PointStep::Kind;
using Matrix = std::array<std::array<double, 3>, 3>;

constexpr int64_t kMostMixed = 256;  ///< channels of a matrix

/// What a colour space is to conversions, by the order of ColorSpace.
struct Space {
  const char* name;
  int64_t channels;
  ColorConversion to_rgb, from_rgb;  ///< reorder: it is rgb, or bgr
};
constexpr Space kSpaces[] = {
    {"rgb", 3, ColorConversion::reorder, ColorConversion::reorder},
    {"bgr", 3, ColorConversion::reorder, ColorConversion::reorder},
    {"rgba", 4, ColorConversion::rgba_to_rgb, ColorConversion::rgb_to_rgba},
    {"gray", 1, ColorConversion::gray_to_rgb, ColorConversion::rgb_to_gray},
    {"hsv", 3, ColorConversion::hsv_to_rgb, ColorConversion::rgb_to_hsv},
    {"lab", 3, ColorConversion::lab_to_rgb, ColorConversion::rgb_to_lab},
    {"ycbcr", 3, ColorConversion::ycbcr_to_rgb, ColorConversion::rgb_to_ycbcr},
};
const Space& space_of(ColorSpace space) { return kSpaces[static_cast<size_t>(space)]; }

void check_finite(const char* function, const char* what, double value) {
  finite_float(function, std::string("the ") + what, value);
}
void check_factor(const char* function, double factor) {
  check_finite(function, "factor", factor);
  if (factor < 0)
    throw ValueError(std::string(function) + ": the factor must not be negative, but is " + std::to_string(factor));
}
void check_rgb(const char* function, const PictureShape& shape) {
  if (shape.channels == 3) return;
  throw ValueError(std::string(function) + ": takes pictures of 3 channels (RGB), not of " +
                   std::to_string(shape.channels));
}

Array table_of(const std::vector<float>& values) {
  Array table = Array::empty({1, std::ssize(values)}, Dtype::float32, cpu());
  std::ranges::copy(values, static_cast<float*>(table.data()));
  return table;
}

/// A function of each value. uint8 has so few of them that it becomes a table.
template <class Function>
std::vector<PointStep> step_of_values(PointStep step, int64_t channels, Dtype dtype, Function function) {
  step.dtype = dtype;
  step.inputs = step.outputs = channels;
  if (dtype != Dtype::uint8) return {std::move(step)};
  std::vector<float> values;
  for (int value = 0; value < 256; ++value) {
    const double made = function(value);
    values.push_back(made > 0 ? static_cast<float>(std::nearbyint(std::min(made, 255.0))) : 0.0F);
  }
  step.kind = Kind::lookup;
  step.table = table_of(values);
  return {std::move(step)};
}

std::vector<PointStep> affine(const char* function, double scale, double offset, const PictureShape& shape,
                              Dtype dtype) {
  PointStep step{.kind = Kind::affine};
  step.scale = {static_cast<float>(scale)};
  step.offset = {finite_float(function, "center * (1 - factor)", offset)};
  return step_of_values(step, shape.channels, dtype, [=](double value) { return value * scale + offset; });
}

std::vector<PointStep> matrix_of_rgb(const Matrix& matrix, Dtype dtype) {
  PointStep step{.kind = Kind::matrix, .offset = {0}, .dtype = dtype, .inputs = 3, .outputs = 3};
  for (const auto& row : matrix) {
    for (const double value : row) step.scale.push_back(static_cast<float>(value));
  }
  return {std::move(step)};
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix made{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 3; ++k) made[i][j] += a[i][k] * b[k][j];
  return made;
}
Matrix inverse(const Matrix& m) {
  Matrix made{};
  double determinant = 0;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      const size_t a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      made[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
    }
    determinant += m[0][i] * made[i][0];
  }
  for (auto& row : made)
    for (double& value : row) value /= determinant;
  return made;
}

}  // namespace

void check_color(const ConvertColor&) {}
void check_color(const Brightness& stage) { check_factor("brightness", stage.factor); }
void check_color(const Contrast& stage) {
  check_factor("contrast", stage.factor);
  check_finite("contrast", "center", stage.center.value_or(0));
}
void check_color(const Saturation& stage) { check_factor("saturation", stage.factor); }
void check_color(const Hue& stage) { check_finite("hue", "angle", stage.degrees); }
void check_color(const Gamma& stage) {
  check_factor("gamma", stage.gain);
  check_finite("gamma", "exponent", stage.gamma);
  if (stage.gamma <= 0) throw ValueError("gamma: the exponent must be positive, but is " + std::to_string(stage.gamma));
}
void check_color(const ColorMatrix& stage) {
  const auto numbers = std::ssize(stage.matrix), offsets = std::ssize(stage.offset);
  if (stage.outputs < 1 || stage.outputs > kMostMixed || numbers < 1 || numbers % stage.outputs != 0 ||
      numbers / stage.outputs > kMostMixed)
    throw ValueError("color_matrix: a matrix (outputs, inputs) of 1 to " + std::to_string(kMostMixed) +
                     " channels, not of " + std::to_string(numbers) + " numbers for " + std::to_string(stage.outputs) +
                     " outputs");
  if (offsets != 1 && offsets != stage.outputs)
    throw ValueError("color_matrix: the offset has 1 or " + std::to_string(stage.outputs) + " numbers, not " +
                     std::to_string(offsets));
  for (const double value : stage.matrix) check_finite("color_matrix", "matrix", value);
  for (const double value : stage.offset) check_finite("color_matrix", "offset", value);
}
void check_color(const Lookup& stage) {
  const Array& table = stage.table;
  if (!table.valid()) throw ValueError("lookup: there is no table");
  const Dtype dtype = table.dtype();
  if (dtype != Dtype::uint8 && dtype != Dtype::uint16 && dtype != Dtype::float16 && dtype != Dtype::float32)
    throw TypeError(std::string("lookup: the table is uint8, uint16, float16 or float32, not ") + name(dtype));
  const int64_t levels = table.ndim() == 1 || table.ndim() == 2 ? table.shape(table.ndim() - 1) : 0;
  if ((levels == 256 || levels == 65536) && table.size() > 0) return;
  throw ShapeError("lookup: the table has shape (levels,) or (channels, levels) of 256 levels for uint8 or 65536 for " +
                   std::string("uint16, not ") + to_string(table.shape()));
}

std::vector<PointStep> color_steps(const ConvertColor& stage, PictureShape& shape, Dtype& dtype) {
  const Space &from = space_of(stage.from), &to = space_of(stage.to);
  if (shape.channels != from.channels)
    throw ValueError(std::string("convert_color: a picture of '") + from.name + "' has " +
                     std::to_string(from.channels) + " channels, not " + std::to_string(shape.channels));
  shape.channels = to.channels;
  shape.is_flat = stage.to == ColorSpace::gray;
  std::vector<PointStep> steps;
  if (stage.from == stage.to) return steps;
  const auto add = [&](ColorConversion conversion) {
    steps.push_back({.kind = Kind::convert, .dtype = dtype, .conversion = conversion});
    steps.back().inputs = inputs_of(conversion);
    steps.back().outputs = outputs_of(conversion);
  };
  if (from.to_rgb != ColorConversion::reorder) add(from.to_rgb);
  if (to.from_rgb != ColorConversion::reorder) add(to.from_rgb);
  if (steps.empty()) add(ColorConversion::reorder);
  if (stage.from == ColorSpace::bgr) steps.front().reverses_inputs = true;
  if (stage.to == ColorSpace::bgr) steps.back().reverses_outputs = true;
  return steps;
}

std::vector<PointStep> color_steps(const Brightness& stage, PictureShape& shape, Dtype& dtype) {
  return affine("brightness", stage.factor, 0, shape, dtype);
}

std::vector<PointStep> color_steps(const Contrast& stage, PictureShape& shape, Dtype& dtype) {
  const double center = stage.center.value_or(static_cast<double>(color_range(dtype).most) / 2);
  return affine("contrast", stage.factor, center * (1 - stage.factor), shape, dtype);
}

std::vector<PointStep> color_steps(const Saturation& stage, PictureShape& shape, Dtype& dtype) {
  check_rgb("saturation", shape);
  constexpr double kLuma[] = {0.299, 0.587, 0.114};
  Matrix matrix;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) matrix[i][j] = (i == j ? stage.factor : 0) + (1 - stage.factor) * kLuma[j];
  return matrix_of_rgb(matrix, dtype);
}

std::vector<PointStep> color_steps(const Hue& stage, PictureShape& shape, Dtype& dtype) {
  check_rgb("hue", shape);
  const Matrix yiq{{{0.299, 0.587, 0.114}, {0.596, -0.274, -0.321}, {0.211, -0.523, 0.311}}};
  const double angle = std::fmod(stage.degrees, 360.0) * std::numbers::pi / 180;
  const Matrix turn{{{1, 0, 0}, {0, std::cos(angle), std::sin(angle)}, {0, -std::sin(angle), std::cos(angle)}}};
  return matrix_of_rgb(product(inverse(yiq), product(turn, yiq)), dtype);
}

std::vector<PointStep> color_steps(const Gamma& stage, PictureShape& shape, Dtype& dtype) {
  PointStep step{.kind = Kind::gamma};
  step.gain = static_cast<float>(stage.gain);
  step.exponent = static_cast<float>(stage.gamma);
  return step_of_values(step, shape.channels, dtype,
                        [&](double value) { return 255 * stage.gain * std::pow(value / 255, stage.gamma); });
}

std::vector<PointStep> color_steps(const ColorMatrix& stage, PictureShape& shape, Dtype& dtype) {
  const int64_t inputs = std::ssize(stage.matrix) / stage.outputs;
  if (shape.channels != inputs)
    throw ValueError("color_matrix: a matrix of " + std::to_string(inputs) + " columns for a picture of " +
                     std::to_string(shape.channels) + " channels");
  PointStep step{.kind = Kind::matrix, .dtype = dtype, .inputs = inputs, .outputs = stage.outputs};
  for (const double value : stage.matrix) step.scale.push_back(static_cast<float>(value));
  for (const double value : stage.offset) step.offset.push_back(static_cast<float>(value));
  shape.channels = stage.outputs;
  shape.is_flat = shape.is_flat && stage.outputs == 1;
  return {std::move(step)};
}

std::vector<PointStep> color_steps(const Lookup& stage, PictureShape& shape, Dtype& dtype) {
  const Array& table = stage.table;
  const int64_t levels = table.shape(table.ndim() - 1), rows = table.size() / levels;
  if (!is_integer(dtype)) throw TypeError(std::string("lookup: takes uint8 and uint16, not ") + name(dtype));
  if (levels != (dtype == Dtype::uint8 ? 256 : 65536))
    throw ShapeError("lookup: a table of " + std::to_string(levels) + " levels for a picture of " + name(dtype));
  if (rows != 1 && rows != shape.channels)
    throw ShapeError("lookup: a table of " + std::to_string(rows) + " rows for a picture of " +
                     std::to_string(shape.channels) + " channels");
  PointStep step{.kind = Kind::lookup, .dtype = table.dtype(), .inputs = shape.channels, .outputs = shape.channels};
  step.table = table.astype(Dtype::float32).reshape({rows, levels}).contiguous();
  dtype = table.dtype();
  return {std::move(step)};
}

}  // namespace iruka::image
