#include "nn/operators/library_convolution.h"

#include <algorithm>

#include "core/precision.h"
#include "nn/channels_last.h"
#include "nn/step_memory.h"

namespace iruka::nn {
namespace {

/// The extents of the window's input that its margins, steps and count give are those that it has.
bool is_exact(const Window& window) {
  for (size_t axis = 0; axis < 3; ++axis) {
    if (window.before[axis] < 0 || window.behind[axis] < 0) return false;
    const int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    const int64_t room = window.in[axis] + window.before[axis] + window.behind[axis] - reach;
    if (room < 0 || room / window.stride[axis] + 1 != window.out[axis]) return false;
  }
  return true;
}

}  // namespace

Convolutions* find_convolutions(Device& device) {
  Convolutions* const found = device.find_service<Convolutions>();
  return found && found->problem().empty() ? found : nullptr;
}

std::optional<Array> convolved_by_library(const Window& window, bool is_transposed, const Array& x,
                                          const Array& weights, int64_t groups, const Epilogue& epilogue,
                                          PreparedWeights* prepared) {
  Device& device = x.device();
  Convolutions* const library = find_convolutions(device);
  if (!library || weights.dtype() != x.dtype() || &weights.device() != &device) return {};
  const Dtype dtype = library->supports(x.dtype(), is_transposed) ? x.dtype() : compute_dtype(x.dtype());
  if (!library->supports(dtype, is_transposed)) return {};
  const int64_t outputs = is_transposed ? weights.shape(1) * groups : weights.shape(0);
  const Dims shape = window.shape(x.shape(0), outputs, is_transposed ? window.in : window.out);
  if (x.size() == 0 || weights.size() == 0 || count(shape) == 0 || !is_exact(window)) return {};
  const auto fits = [&](const Array& array) { return array.dtype() == x.dtype() && &array.device() == &device; };
  const Array &bias = epilogue.bias, &residual = epilogue.residual;
  if (bias.valid() && !(fits(bias) && bias.size() == outputs)) return {};
  if (residual.valid() && !(fits(residual) && residual.shape() == shape)) return {};

  Convolution job;
  job.dtype = dtype, job.precision = thread_precision(), job.is_transposed = is_transposed, job.rank = window.rank;
  job.images = x.shape(0), job.groups = groups, job.channels = x.shape(1), job.outputs = outputs;
  job.in = window.in, job.out = window.out, job.kernel = window.kernel;
  job.stride = window.stride, job.dilation = window.dilation;
  job.before = window.before, job.behind = window.behind;
  job.is_channels_last = library->gives_channels_last(job);
  const bool is_one_channel = x.shape(1) == 1;  // which is in both orders
  job.are_images_channels_last = library->takes_any_order()
                                     ? is_taken_channels_last(x) || (is_one_channel && job.is_channels_last)
                                     : job.is_channels_last;
  if (!library->accepts(job)) return {};
  const auto ordered = [&](const Array& given, bool is_channels_last) {
    if (!given.valid()) return given;
    const Array array = given.astype(dtype, false);
    return is_channels_last ? as_channels_last(array) : array.contiguous();
  };
  const auto prepare = [&] {
    const Array packed = is_transposed ? Array() : library->packed(weights.astype(dtype, false), groups);
    return packed.valid() ? packed : ordered(weights, job.is_channels_last);
  };
  const Array factors = prepared ? prepared->get(job.precision, prepare) : prepare();
  const Array images = ordered(x, job.are_images_channels_last), added = ordered(residual, job.is_channels_last);
  const Array numbers = ordered(bias, false);
  const Array result = empty_result(shape, job.dtype, device, job.is_channels_last);
  job.x = images.data(), job.weights = factors.data(), job.result = result.data();
  job.bias = numbers.valid() ? numbers.data() : nullptr;
  job.residual = added.valid() ? added.data() : nullptr;
  job.function = epilogue.function;
  std::ranges::copy(epilogue.numbers, job.numbers);
  if (!library->convolve(job)) return {};
  return result;
}

}  // namespace iruka::nn
