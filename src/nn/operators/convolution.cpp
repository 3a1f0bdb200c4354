// Convolutions, and transposed ones, as products of matrices with what each window sees. Those with few numbers a
// window, as depthwise ones, are one kernel.
#include <algorithm>

#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "nn/fusion.h"
#include "nn/operators/library_convolution.h"
#include "nn/operators/transposed_phases.h"
#include "nn/operators/window.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

/// What all windows see of as many images as this is in memory at once.
constexpr int64_t kColumnBytes = int64_t{64} << 20;

std::vector<int64_t> kernel_of_weights(const Array& weights) {
  return {weights.shape().begin() + std::min(2, weights.ndim()), weights.shape().end()};
}

struct Operands {
  Array x, weights;
  int64_t groups;
};

Operands operands_of(const Call& call) {
  Operands operands{call[0], call[1], call.integer("group", 1)};
  const Array &x = operands.x, &weights = operands.weights;
  if (weights.ndim() != x.ndim()) {
    call.fail("weights of shape " + to_string(weights.shape()) + " do not fit an input of shape " +
              to_string(x.shape()));
  }
  return operands;
}

/// Both in the dtype of computation and C order.
Operands prepared(const Operands& operands) {
  const Dtype dtype = compute_dtype(operands.x.dtype());
  return {operands.x.astype(dtype, false).contiguous(), operands.weights.astype(dtype, false).contiguous(),
          operands.groups};
}

[[noreturn]] void refuse_channels(const Call& call, const Operands& operands) {
  call.fail("weights of shape " + to_string(operands.weights.shape()) + " in " + std::to_string(operands.groups) +
            " groups do not fit " + std::to_string(operands.x.shape(1)) + " channels");
}

/// The result in the input's dtype, except where a bias that follows rounds it.
Array rounded(const Call& call, const Array& y) {
  return call.integer(kIsWide, 0) ? y : y.astype(call[0].dtype(), false);
}
Array with_bias(const Call& call, const Array& y) {
  return rounded(call, call.has(2) ? add(y, call[2].reshape(ops::along_axis(y.ndim(), 1, -1))) : y);
}

/// The matrix (images, channels * places of the kernel, places of the output).
Array columns_of(const Window& window, const Array& x) {
  const int64_t images = x.shape(0), rows = x.shape(1) * window.kernel_size();
  if (window.is_pointwise()) return x.reshape({images, rows, window.out_size()});
  const std::string type = name(x.dtype());
  return window.fill({"columns", "raw const " + type + " x", "raw " + type + " y",
                      std::string("y[at] = window_element<") + info(x.dtype()).c_type + ">(window, x, to);"},
                     {x}, {images, rows, window.out_size()});
}

/// One kernel that reads the windows itself.
Array convolved_directly(const Window& window, const Operands& operands) {
  const auto& [x, weights, groups] = operands;
  const std::string type = name(x.dtype()), c_type = info(x.dtype()).c_type;
  const int64_t outputs = weights.shape(0);
  return window.fill(
      {"convolution", "raw const " + type + " x, raw const " + type + " weights", "raw " + type + " y",
       "y[at] = convolved<" + c_type + ">(window, x, weights, Index(" + std::to_string(groups) + "), Index(" +
           std::to_string(weights.shape(1)) + "), Index(" + std::to_string(outputs / groups) + "), to);"},
      {x, weights}, window.shape(x.shape(0), outputs, window.out));
}

Array convolved_by_matrices(const Window& window, const Operands& operands) {
  const auto& [x, weights, groups] = operands;
  const int64_t images = x.shape(0), outputs = weights.shape(0), rows = weights.shape(1) * window.kernel_size();
  const Array matrices = weights.reshape({groups, outputs / groups, rows});
  const int64_t bytes = std::max<int64_t>(1, groups * rows * window.out_size() * x.itemsize());
  const int64_t at_once =
      window.is_pointwise() ? images : std::clamp<int64_t>(kColumnBytes / bytes, 1, std::max<int64_t>(images, 1));
  const Dims shape = window.shape(images, outputs, window.out);
  const auto product = [&](const Array& part) {
    const Array columns = columns_of(window, part).reshape({part.shape(0), groups, rows, window.out_size()});
    return groups == 1
               ? matmul(matrices.reshape({outputs, rows}), columns.reshape({part.shape(0), rows, window.out_size()}))
               : matmul(matrices, columns);
  };
  if (at_once >= images) return product(x).reshape(shape);
  Array result = Array::empty(shape, x.dtype(), x.device());
  for (int64_t first = 0; first < images; first += at_once) {
    const int64_t end = std::min(first + at_once, images);
    Array part = ops::cut(result, 0, first, end);
    part.assign(product(ops::cut(x, 0, first, end)).reshape(part.shape()));
  }
  return result;
}

void check_kernel(const Call& call, const Window& window, const Array& weights) {
  for (int axis = 2; axis < weights.ndim(); ++axis) {
    if (window.kernel[static_cast<size_t>(axis + 3 - weights.ndim())] != weights.shape(axis))
      call.fail("kernel_shape is not that of the weights, whose shape is " + to_string(weights.shape()));
  }
}

/// The window of operands, which fit it.
Window checked_window(const Call& call, const Operands& operands) {
  const auto& [x, weights, groups] = operands;
  const Window window = window_of(call, x, call.integers("kernel_shape").value_or(kernel_of_weights(weights)));
  if (groups < 1 || weights.shape(1) * groups != x.shape(1) || weights.shape(0) % groups != 0)
    refuse_channels(call, operands);
  check_kernel(call, window, weights);
  return window;
}

Results convolution(const Call& call) {
  const Operands given = operands_of(call);
  const Window window = checked_window(call, given);
  if (auto made = convolved_by_library(window, false, given.x, given.weights, given.groups,
                                       {.bias = call.has(2) ? call[2] : Array()}))
    return {rounded(call, *made)};
  const Operands operands = prepared(given);
  const auto& [x, weights, groups] = operands;
  const bool is_narrow = groups > 1 && weights.shape(0) / groups * weights.shape(1) <= 4;
  return {with_bias(call, is_narrow ? convolved_directly(window, operands) : convolved_by_matrices(window, operands))};
}

/// Each input element adds its multiples of the kernel to the result: a product gives them, a kernel adds them up.
Results transposed_convolution(const Call& call, PreparedPhases* prepared_phases) {
  const Operands given = operands_of(call);
  const Window window =
      transposed_window_of(call, given.x, call.integers("kernel_shape").value_or(kernel_of_weights(given.weights)));
  if (given.groups < 1 || given.weights.shape(0) != given.x.shape(1) || given.x.shape(1) % given.groups != 0)
    refuse_channels(call, given);
  check_kernel(call, window, given.weights);
  if (const auto made = convolved_by_library(window, true, given.x, given.weights, given.groups))
    return {with_bias(call, *made)};
  if (const auto made = convolved_by_phases(window, given.x, given.weights, given.groups,
                                            call.has(2) ? call[2] : Array(), prepared_phases))
    return {rounded(call, *made)};
  const Operands operands = prepared(given);
  const auto& [x, weights, groups] = operands;
  const int64_t images = x.shape(0), inputs = x.shape(1) / groups, outputs = weights.shape(1);
  const Array matrices = weights.reshape({groups, inputs, outputs * window.kernel_size()}).swapaxes(1, 2);
  const Array columns = matmul(matrices, x.reshape({images, groups, inputs, window.out_size()})).contiguous();
  const Dims shape = window.shape(images, groups * outputs, window.in);
  const std::string type = name(x.dtype());
  const Array y =
      window.fill({"transposed_convolution", "raw const " + type + " x", "raw " + type + " y",
                   std::string("y[at] = sum_of_columns<") + info(x.dtype()).c_type + ">(window, x, to);", true},
                  {columns}, shape);
  return {with_bias(call, y)};
}

Run prepared_transposed_convolution() {
  return [kept = std::make_shared<PreparedPhases>()](const Call& call) {
    return transposed_convolution(call, kept.get());
  };
}

constexpr Operator kRows[] = {
    {"Conv", convolution},
    {.name = "ConvTranspose",
     .run = [](const Call& call) { return transposed_convolution(call, nullptr); },
     .run_prepared = prepared_transposed_convolution},
};

}  // namespace

std::optional<Array> convolved_by_library(const Call& call, const Epilogue& epilogue, PreparedWeights& prepared,
                                          KnownWindow& window) {
  const Operands operands = operands_of(call);
  const Window known = window.get(operands.x.shape(), [&] { return checked_window(call, operands); });
  return convolved_by_library(known, false, operands.x, operands.weights, operands.groups, epilogue, &prepared);
}

std::span<const Operator> convolution_operators() { return kRows; }

}  // namespace iruka::nn
