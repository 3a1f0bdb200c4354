#include "image/geometry/plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <variant>

#include "image/geometry/color_plan.h"
#include "image/numbers.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

/// Elements of a row of a picture, and bytes of a row that a pass reads, so that 32 bits hold places.
constexpr int64_t kMostRow = (int64_t{1} << 31) - 4096;

std::string size_text(int64_t height, int64_t width) {
  return "(" + std::to_string(height) + ", " + std::to_string(width) + ")";
}

void check_size(const char* function, int64_t height, int64_t width) {
  if (height >= 1 && width >= 1 && height <= kMostExtent && width <= kMostExtent) return;
  throw ValueError(std::string(function) + ": a size has two numbers from 1 to " + std::to_string(kMostExtent) +
                   ", not " + size_text(height, width));
}
bool is_picture_dtype(Dtype dtype) {
  return dtype == Dtype::uint8 || dtype == Dtype::uint16 || dtype == Dtype::float16 || dtype == Dtype::float32;
}
void check_some(const char* function, const char* what, const std::vector<double>& values) {
  if (values.empty()) throw ValueError(std::string(function) + ": " + what + " has no number");
}

/// Raises ShapeError for a picture whose places are too large for 32 bits. An element of a row has `item` bytes.
void check_extents(const PictureShape& picture, int64_t item, const Dims& shape, const char* function) {
  if (picture.height > kMostExtent || picture.width > kMostExtent)
    throw ShapeError(std::string(function) + ": a side of a picture has at most " + std::to_string(kMostExtent) +
                     " pixels, not shape " + to_string(shape));
  const int64_t most = kMostRow / item;
  if (picture.channels > most / picture.width)
    throw ShapeError(std::string(function) + ": a row of a picture has at most " + std::to_string(most) +
                     " elements of this dtype, not shape " + to_string(shape));
}

void check_filter(const char* function, Filter filter) {
  if (filter == Filter::nearest || filter == Filter::linear || filter == Filter::cubic) return;
  throw ValueError(std::string(function) + ": the filter must be 'nearest', 'linear' or 'cubic'");
}

/// What can be said of each stage without a picture.
struct Check {
  void operator()(const Resize& stage) const {
    check_size("resize", stage.height, stage.width);
    if (!stage.roi) return;
    const Rectangle& roi = *stage.roi;
    const bool is_finite = std::isfinite(roi.y) && std::isfinite(roi.x);
    if (is_finite && roi.height > 0 && roi.width > 0 && std::isfinite(roi.height) && std::isfinite(roi.width)) return;
    throw ValueError("resize: roi must be (y, x, height, width) with a positive height and width");
  }
  void operator()(const Crop& stage) const { check_size("crop", stage.height, stage.width); }
  void operator()(const Pad& stage) const {
    check_some("pad", "value", stage.value);
    for (const int64_t margin : {stage.top, stage.bottom, stage.left, stage.right}) {
      if (margin < 0 || margin > kMostExtent)
        throw ValueError("pad: a margin must not be negative, but is " + std::to_string(margin));
    }
  }
  void operator()(const Flip&) const {}
  void operator()(const Transpose&) const {}
  void operator()(const Normalize& stage) const {
    check_some("normalize", "mean", stage.mean);
    check_some("normalize", "std", stage.deviation);
    for (const double value : stage.mean) finite_float("normalize", "mean", value);
    for (const double value : stage.deviation) {
      finite_float("normalize", "std", value);
      if (!std::isfinite(static_cast<float>(1 / value)))
        throw ValueError("normalize: std must have a finite reciprocal in float32, but is " + number_text(value));
    }
  }
  void operator()(const Cast& stage) const { check_picture_dtype("cast", stage.dtype); }
  void operator()(const ToLayout&) const {}
  void operator()(const PyramidDown&) const {}
  void operator()(const Rotate& stage) const {
    check_some("rotate", "value", stage.value);
    check_filter("rotate", stage.filter);
    if (!std::isfinite(stage.degrees)) throw ValueError("rotate: the angle must be finite");
  }
  void operator()(const Warp& stage) const {
    if (stage.height != 0 || stage.width != 0) check_size("warp", stage.height, stage.width);
    check_some("warp", "value", stage.value);
    for (const double number : stage.matrix) {
      if (!std::isfinite(number)) throw ValueError("warp: the matrix must be finite");
    }
    check_filter("warp", stage.filter);
  }
  template <ColorStage Stage>
  void operator()(const Stage& stage) const {
    check_color(stage);
  }
};

}  // namespace

std::pair<int64_t, int64_t> fitted(const Resize& stage, double height, double width) {
  if (stage.fit == Fit::stretch) return {stage.height, stage.width};
  const double down = static_cast<double>(stage.height) / height, across = static_cast<double>(stage.width) / width;
  const double scale = stage.fit == Fit::not_larger ? std::min(down, across) : std::max(down, across);
  const auto extent = [&](double in, double own, int64_t wanted) {
    if (own == scale) return wanted;
    const double made = std::max(std::round(in * scale), 1.0);
    if (made <= static_cast<double>(kMostExtent)) return static_cast<int64_t>(made);
    throw ValueError("resize: the size (" + number_text(height * scale) + ", " + number_text(width * scale) +
                     ") is too large");
  };
  return {extent(height, down, stage.height), extent(width, across, stage.width)};
}

std::pair<int64_t, int64_t> corner(const Crop& stage, int64_t height, int64_t width) {
  if (stage.height > height || stage.width > width)
    throw ValueError("crop: a part of " + size_text(stage.height, stage.width) + " is larger than the picture, " +
                     size_text(height, width));
  const int64_t y = stage.y.value_or((height - stage.height) / 2), x = stage.x.value_or((width - stage.width) / 2);
  if (y < 0 || x < 0 || y > height - stage.height || x > width - stage.width)
    throw ValueError("crop: a part of " + size_text(stage.height, stage.width) + " at " + size_text(y, x) +
                     " leaves the picture, " + size_text(height, width));
  return {y, x};
}

void check_picture_dtype(const std::string& function, Dtype dtype) {
  if (is_picture_dtype(dtype)) return;
  throw TypeError(function + ": pictures are uint8, uint16, float16 or float32, not " + name(dtype) +
                  (dtype == Dtype::float64 ? "; astype(\"float32\") converts float64" : ""));
}

namespace {

/// The function that is a chain of this stage, in the order of Stage.
constexpr const char* kFunctions[] = {"resize",  "crop",          "pad",          "flip",     "transpose",
                                      "pyramid", "normalize",     "cast",         "layout",   "warp",
                                      "rotate",  "convert_color", "brightness",   "contrast", "saturation",
                                      "hue",     "gamma",         "color_matrix", "lookup"};
static_assert(std::size(kFunctions) == std::variant_size_v<Stage>);

const char* function_of(const Chain& chain) {
  return chain.stages().size() == 1 ? kFunctions[chain.stages().front().index()] : "Chain";
}

class Planner {
 public:
  Planner(const Chain& chain, const Dims& shape, Dtype dtype) : function_(function_of(chain)) {
    check_picture_dtype(function_, dtype);
    begin(picture_shape(shape, chain.layout(), function_), dtype);
  }

  std::vector<PassPlan> finish() {
    end();
    return std::move(passes_);
  }

  void operator()(const Resize& stage) {
    if (!can_resample()) next_pass();
    crop_source();
    const Rectangle roi =
        stage.roi.value_or(Rectangle{0, 0, static_cast<double>(pass_.height), static_cast<double>(pass_.width)});
    const bool is_inside = roi.y >= 0 && roi.x >= 0 && roi.y + roi.height <= static_cast<double>(pass_.height) &&
                           roi.x + roi.width <= static_cast<double>(pass_.width);
    if (!is_inside)
      throw ValueError("resize: the roi (" + number_text(roi.y) + ", " + number_text(roi.x) + ", " +
                       number_text(roi.height) + ", " + number_text(roi.width) + ") is not within a picture of " +
                       size_text(pass_.height, pass_.width));
    const auto [height, width] = fitted(stage, roi.height, roi.width);
    if (is_vertical_first(stage, height, width)) {
      resize_rows(stage, roi, height);
      return resize_columns(stage, roi, width);
    }
    const bool enlarges = static_cast<double>(height) > roi.height || static_cast<double>(width) > roi.width;
    pass_.rows = recipe(stage, pass_.height, roi.y, roi.height, height, enlarges);
    pass_.columns = recipe(stage, pass_.width, roi.x, roi.width, width, enlarges);
    set_size(height, width);
  }

  void operator()(const Crop& stage) {
    const auto [y, x] = corner(stage, pass_.to.height, pass_.to.width);
    select({.kind = Selection::Kind::crop, .first = y, .count = stage.height},
           {.kind = Selection::Kind::crop, .first = x, .count = stage.width});
    set_size(stage.height, stage.width);
  }

  void operator()(const Pad& stage) {
    const std::vector<float> value = values("pad", "value", stage.value);
    if (!(stage.top | stage.bottom | stage.left | stage.right)) return;
    const bool is_constant = stage.border == Border::constant;
    // Constants belong before the steps, and an axis has one range of inputs.
    if (pass_.has_outside ? !is_constant || !pass_.steps.empty() || pass_.outside != value
                          : is_constant && !pass_.steps.empty())
      next_pass();
    if (is_constant) {
      pass_.outside = value;
      pass_.has_outside = true;
    }
    const PictureShape now = pass_.to;
    const int64_t height = now.height + stage.top + stage.bottom, width = now.width + stage.left + stage.right;
    check_size("pad", height, width);
    select({.kind = Selection::Kind::pad, .border = stage.border, .first = stage.top, .count = stage.bottom},
           {.kind = Selection::Kind::pad, .border = stage.border, .first = stage.left, .count = stage.right});
    set_size(height, width);
  }

  void operator()(const Flip& stage) {
    AxisRecipe& rows = pass_.is_transposed ? pass_.columns : pass_.rows;
    AxisRecipe& columns = pass_.is_transposed ? pass_.rows : pass_.columns;
    if (stage.vertical) rows.selections.push_back({.kind = Selection::Kind::flip});
    if (stage.horizontal) columns.selections.push_back({.kind = Selection::Kind::flip});
  }

  void operator()(const Transpose&) {
    pass_.is_transposed = !pass_.is_transposed;
    set_size(pass_.to.width, pass_.to.height);
  }

  void operator()(const Normalize& stage) {
    PointStep step{.kind = PointStep::Kind::normalize, .mean = {}, .scale = {}};
    check_channels("normalize", "mean", stage.mean);
    check_channels("normalize", "std", stage.deviation);
    for (const double value : stage.mean) step.mean.push_back(static_cast<float>(value));
    for (const double value : stage.deviation) step.scale.push_back(static_cast<float>(1 / value));
    pass_.steps.push_back(std::move(step));
    pass_.result_dtype = Dtype::float32;
  }

  void operator()(const Cast& stage) {
    if (stage.dtype == pass_.result_dtype) return;
    pass_.steps.push_back({.kind = PointStep::Kind::round, .mean = {}, .scale = {}, .dtype = stage.dtype});
    pass_.result_dtype = stage.dtype;
  }

  void operator()(const ToLayout& stage) {
    pass_.to.layout = stage.layout;  // of a flat picture, too, which may become one of three axes
  }

  template <ColorStage Stage>
  void operator()(const Stage& stage) {
    for (PointStep& step : color_steps(stage, pass_.to, pass_.result_dtype)) pass_.steps.push_back(std::move(step));
  }

  void operator()(const Warp& stage) {
    const bool is_new = pass_.resamples() || !pass_.steps.empty() || !are_crops() || pass_.is_transposed;
    if (is_new) next_pass();
    crop_source();
    const std::vector<float> value = values("warp", "value", stage.value);
    pass_.warp = stage;
    const int64_t height = stage.height ? stage.height : pass_.height;
    const int64_t width = stage.width ? stage.width : pass_.width;
    if (stage.border == Border::constant) {
      pass_.outside = value;
      pass_.has_outside = true;
    }
    pass_.rows = AxisRecipe::unchanged(height);
    pass_.columns = AxisRecipe::unchanged(width);
    set_size(height, width);
  }

  void operator()(const PyramidDown&) {
    if (!can_resample()) next_pass();
    crop_source();
    const auto half = [](int64_t extent) {
      AxisRecipe made = AxisRecipe::unchanged(extent);
      made.out = (extent + 1) / 2;
      made.resizes = made.halves = true;
      return made;
    };
    pass_.rows = half(pass_.height);
    pass_.columns = half(pass_.width);
    set_size(pass_.rows.out, pass_.columns.out);
  }

  void operator()(const Rotate& stage) {
    const PictureShape now = pass_.to;
    const double turns = std::fmod(std::fmod(stage.degrees, 360.0) + 360.0, 360.0) / 90;
    const auto quarters = static_cast<int>(turns);
    const bool is_square = turns == quarters, swaps = quarters % 2 != 0;
    if (is_square && (!swaps || stage.expands || now.height == now.width)) {
      values("rotate", "value", stage.value);
      if (swaps) (*this)(Transpose());
      return (*this)(Flip{.horizontal = quarters >= 2, .vertical = quarters == 1 || quarters == 2});
    }
    constexpr double kCosines[] = {1, 0, -1, 0};
    const double angle = turns * std::numbers::pi / 2;
    const double cosine = is_square ? kCosines[quarters] : std::cos(angle);
    const double sine = is_square ? kCosines[(quarters + 3) % 4] : std::sin(angle);
    const auto height = static_cast<double>(now.height), width = static_cast<double>(now.width);
    const auto turned = [&](double along, double across) {
      return static_cast<int64_t>(std::ceil(along * std::abs(cosine) + across * std::abs(sine) - 1e-6));
    };
    Warp warp{.height = stage.expands ? turned(height, width) : now.height,
              .width = stage.expands ? turned(width, height) : now.width,
              .filter = stage.filter,
              .border = stage.border,
              .value = stage.value};
    const double center_y = (static_cast<double>(warp.height) - 1) / 2, y = (height - 1) / 2;
    const double center_x = (static_cast<double>(warp.width) - 1) / 2, x = (width - 1) / 2;
    warp.matrix = {cosine, -sine,  x - cosine * center_x + sine * center_y,
                   sine,   cosine, y - sine * center_x - cosine * center_y,
                   0,      0,      1};
    (*this)(warp);
  }

 private:
  void begin(const PictureShape& shape, Dtype dtype) {
    check_extents(shape, itemsize(dtype), shape.dims(), function_);
    pass_ = {};
    pass_.from = pass_.to = shape;
    pass_.height = shape.height;
    pass_.width = shape.width;
    pass_.source_dtype = pass_.dtype = pass_.result_dtype = dtype;
    pass_.rows = AxisRecipe::unchanged(shape.height);
    pass_.columns = AxisRecipe::unchanged(shape.width);
  }
  void end() {
    const bool is_fixed = pass_.dtype == Dtype::uint8 && (pass_.rows.weighs() || pass_.columns.weighs());
    pass_.rows.has_integers = pass_.columns.has_integers = is_fixed;
    // The result is rounded to its dtype anyway.
    std::vector<PointStep>& steps = pass_.steps;
    if (!steps.empty() && steps.back().kind == PointStep::Kind::round) steps.pop_back();
    passes_.push_back(std::move(pass_));
  }
  void next_pass() {
    const PictureShape shape = pass_.to;
    const Dtype dtype = pass_.result_dtype;
    end();
    begin(shape, dtype);
  }
  void set_size(int64_t height, int64_t width) {
    pass_.to.height = height;
    pass_.to.width = width;
  }
  void select(const Selection& down, const Selection& across) {
    (pass_.is_transposed ? pass_.columns : pass_.rows).selections.push_back(down);
    (pass_.is_transposed ? pass_.rows : pass_.columns).selections.push_back(across);
  }

  bool are_crops() const {
    const auto is_crop = [](const Selection& step) { return step.kind == Selection::Kind::crop; };
    return std::ranges::all_of(pass_.rows.selections, is_crop) &&
           std::ranges::all_of(pass_.columns.selections, is_crop);
  }
  /// Whether a resize may join what the pass does already: crops, and a cast to float32.
  bool can_resample() {
    if (pass_.resamples() || pass_.is_transposed || !are_crops()) return false;
    if (pass_.steps.empty()) return true;
    const bool is_widened = pass_.steps.size() == 1 && pass_.steps[0].kind == PointStep::Kind::round &&
                            pass_.steps[0].dtype == Dtype::float32;
    if (!is_widened) return false;
    pass_.steps.clear();
    pass_.dtype = Dtype::float32;
    return true;
  }
  /// Makes crops a part of the source.
  void crop_source() {
    for (const Selection& step : pass_.rows.selections) pass_.y += step.first;
    for (const Selection& step : pass_.columns.selections) pass_.x += step.first;
    pass_.height = pass_.to.height;
    pass_.width = pass_.to.width;
  }

  static AxisRecipe recipe(const Resize& stage, int64_t in, double begin, double length, int64_t out, bool enlarges) {
    AxisRecipe made = AxisRecipe::unchanged(in);
    made.out = out;
    made.begin = begin;
    made.length = length;
    made.resizes = true;
    const bool is_triangular = stage.filter == Filter::triangular;
    made.filter = is_triangular ? Filter::linear : stage.filter;
    made.antialias = is_triangular || stage.antialias.value_or(stage.convention == Convention::pillow);
    made.convention = stage.convention;
    made.area_enlarges = stage.filter == Filter::area && stage.convention == Convention::opencv && enlarges;
    return made;
  }

  /// Pillow's order where filters overshoot: it keeps uint8 between both axes, so that the order counts.
  bool is_vertical_first(const Resize& stage, int64_t height, int64_t width) const {
    const int64_t down = height - pass_.height, across = width - pass_.width;
    return overshoots(stage.filter) && stage.convention == Convention::pillow && pass_.dtype == Dtype::uint8 &&
           down < 0 && across != 0 && 2 * across > down;
  }
  void resize_rows(const Resize& stage, const Rectangle& roi, int64_t height) {
    pass_.rows = recipe(stage, pass_.height, roi.y, roi.height, height, false);
    pass_.columns = AxisRecipe::unchanged(pass_.width);
    set_size(height, pass_.width);
    next_pass();
  }
  void resize_columns(const Resize& stage, const Rectangle& roi, int64_t width) {
    pass_.columns = recipe(stage, pass_.width, roi.x, roi.width, width, false);
    set_size(pass_.height, width);
  }

  void check_channels(const char* function, const char* what, const std::vector<double>& numbers) const {
    const auto count = static_cast<int64_t>(numbers.size());
    if (count == 1 || count == pass_.to.channels) return;
    throw ValueError(std::string(function) + ": " + what + " has " + std::to_string(count) +
                     " numbers for a picture of " + std::to_string(pass_.to.channels) + " channels");
  }
  /// Numbers as elements of the picture.
  std::vector<float> values(const char* function, const char* what, const std::vector<double>& numbers) const {
    check_channels(function, what, numbers);
    std::vector<float> made;
    made.reserve(numbers.size());
    for (const double number : numbers) made.push_back(element_of(function, what, number, pass_.result_dtype));
    return made;
  }

  const char* const function_;
  PassPlan pass_;
  std::vector<PassPlan> passes_;
};

}  // namespace

Dims PictureShape::dims() const {
  if (is_flat) return {height, width};
  return layout == Layout::hwc ? Dims{height, width, channels} : Dims{channels, height, width};
}

PictureShape picture_shape(const Dims& shape, Layout layout, const char* function) {
  PictureShape made;
  made.is_flat = shape.size() == 2;
  made.layout = layout;
  if (shape.size() != 2 && shape.size() != 3)
    throw ShapeError(std::string(function) + ": a picture has 2 or 3 axes, not shape " + to_string(shape));
  const bool is_planar = !made.is_flat && layout == Layout::chw;
  made.height = shape[is_planar ? 1 : 0];
  made.width = shape[is_planar ? 2 : 1];
  if (!made.is_flat) made.channels = shape[is_planar ? 0 : 2];
  if (made.height < 1 || made.width < 1 || made.channels < 1)
    throw ShapeError(std::string(function) + ": a picture of shape " + to_string(shape) + " has no pixels");
  check_extents(made, 1, shape, function);
  return made;
}

std::vector<PassPlan> plan(const Chain& chain, const Dims& shape, Dtype dtype) {
  Planner planner(chain, shape, dtype);
  for (const Stage& stage : chain.stages()) std::visit(planner, stage);
  return planner.finish();
}

void check_stages(const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) std::visit(Check(), stage);
}

}  // namespace iruka::image
