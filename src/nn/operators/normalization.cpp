// Normalizations and what is made of sums along an axis: softmax and its kind.
#include <cmath>

#include "iruka/ops.h"
#include "iruka/rearranging.h"
#include "iruka/statistics.h"
#include "nn/operators/operator.h"
#include "ops/functions.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

Dims axes_from(int begin, int ndim) {
  Dims axes;
  for (int axis = begin; axis < ndim; ++axis) axes.push_back(axis);
  return axes;
}

Array in_compute_dtype(const Array& x) { return x.astype(compute_dtype(x.dtype()), false); }

/// (x - mean) / sqrt(variance + epsilon) * scale + shift; everything broadcasts against x.
Array normalized(const Array& x, const Array& mean, const Array& variance, double epsilon, const Array& scale,
                 const Array& shift, Dtype result) {
  const std::string type = name(x.dtype());
  const auto& kernel = kernel_of(
      "", type + " x, " + type + " m, " + type + " v, " + type + " epsilon, " + type + " scale, " + type + " shift",
      std::string(name(result)) + " y", "y = (x - m) / sqrt(v + epsilon) * scale + shift;", "normalize");
  return kernel(x, mean, variance, epsilon, scale.astype(x.dtype(), false), shift.astype(x.dtype(), false));
}

Results batch_normalization(const Call& call) {
  if (call.integer("training_mode", 0)) call.fail("networks are not trained here, but training_mode is 1");
  const Array& x = call[0];
  const auto by_channel = [&](size_t input) {
    return call[input].reshape(ops::along_axis(std::max(x.ndim(), 2), 1, -1)).astype(compute_dtype(x.dtype()), false);
  };
  return {normalized(in_compute_dtype(x), by_channel(3), by_channel(4), call.number("epsilon", 1e-5), by_channel(1),
                     by_channel(2), x.dtype())};
}

Results layer_normalization(const Call& call) {
  const Array x = in_compute_dtype(call[0]);
  const Dims axes = axes_from(call.axis(call.integer("axis", -1), x.ndim()), x.ndim());
  const double epsilon = call.number("epsilon", 1e-5);
  const Array middle = mean(x, axes, true), spread = variance(x, {.axes = axes, .keepdims = true});
  const Array scale = in_compute_dtype(call[1]), shift = call.has(2) ? in_compute_dtype(call[2]) : zeros({}, x.dtype());
  call.check_broadcast(scale, "the scale", x.shape());
  call.check_broadcast(shift, "the bias", x.shape());
  Results results{normalized(x, middle, spread, epsilon, scale, shift, call[0].dtype())};
  if (call.wants(1)) results.push_back(middle);
  if (call.wants(2)) {
    results.resize(2);
    results.push_back(divide(1.0, sqrt(add(spread, epsilon))));
  }
  return results;
}

Results rms_normalization(const Call& call) {
  const Array x = in_compute_dtype(call[0]);
  const Dims axes = axes_from(call.axis(call.integer("axis", -1), x.ndim()), x.ndim());
  const Array zero = zeros({}, x.dtype()), scale = in_compute_dtype(call[1]);
  call.check_broadcast(scale, "the scale", x.shape());
  return {normalized(x, zero, mean(square(x), axes, true), call.number("epsilon", 1e-5), scale, zero, call[0].dtype())};
}

/// x of shape (N, C, ...) normalized over groups of channels; scale and shift have one number a channel or a group.
Array group_normalized(const Call& call, int64_t groups) {
  const Array& x = call[0];
  if (x.ndim() < 2) call.fail("the input must have at least two axes, but has shape " + to_string(x.shape()));
  const int64_t batch = x.shape(0), channels = x.shape(1);
  if (groups < 1 || channels % groups != 0) {
    call.fail(std::to_string(channels) + " channels do not make " + std::to_string(groups) + " groups");
  }
  const Array grouped = in_compute_dtype(x).reshape({batch, groups, channels / groups, extent_between(x, 2, x.ndim())});
  const auto numbers = [&](size_t input) {
    const Array& given = call[input];
    if (given.size() != channels && given.size() != groups) {
      call.fail("input " + std::to_string(input) + " must have one number for each of " + std::to_string(channels) +
                " channels, but has shape " + to_string(given.shape()));
    }
    const bool is_by_group = given.size() == groups && groups != channels;
    return in_compute_dtype(given).reshape({1, groups, is_by_group ? 1 : channels / groups, 1});
  };
  const Dims axes{2, 3};
  return normalized(grouped, mean(grouped, axes, true), variance(grouped, {.axes = axes, .keepdims = true}),
                    call.number("epsilon", 1e-5), numbers(1), numbers(2), x.dtype())
      .reshape(x.shape());
}

Results group_normalization(const Call& call) { return {group_normalized(call, call.integer("num_groups", 1))}; }
Results instance_normalization(const Call& call) {
  return {group_normalized(call, call[0].ndim() < 2 ? 1 : call[0].shape(1))};
}

Results mean_variance_normalization(const Call& call) {
  const Array x = in_compute_dtype(call[0]);
  const Dims axes = dims_of(call.integers("axes").value_or(std::vector<int64_t>{0, 2, 3}));
  const Array zero = zeros({}, x.dtype()), one = ones({}, x.dtype());
  const Array spread = sqrt(variance(x, {.axes = axes, .keepdims = true}));
  return {divide(subtract(x, mean(x, axes, true)), add(spread, 1e-9)).astype(call[0].dtype(), false)};
}

Results lp_normalization(const Call& call) {
  const Array x = in_compute_dtype(call[0]);
  const Dims axes{call.axis(call.integer("axis", -1), x.ndim())};
  const bool is_absolute = call.integer("p", 2) == 1;
  const Array norm = is_absolute ? sum(absolute(x), axes, true) : sqrt(sum(square(x), axes, true));
  const Array quotient = divide(x, where(equal(norm, 0), 1, norm));
  return {quotient.astype(call[0].dtype(), false)};
}

/// x / (bias + alpha / size * sum of squares of neighbouring channels) ^ beta.
Results local_response_normalization(const Call& call) {
  const Array x = in_compute_dtype(call[0]).contiguous();
  if (x.ndim() < 3) call.fail("the input must have at least three axes, but has shape " + to_string(x.shape()));
  const int64_t size = call.integer("size", 1), inner = extent_between(x, 2, x.ndim());
  const std::string type = name(x.dtype()), c_type = info(x.dtype()).c_type;
  const auto& kernel = kernel_of("",
                                 "raw " + type + " x, int64 channels, int64 inner, int64 before, int64 after, " + type +
                                     " scale, " + type + " beta, " + type + " bias",
                                 "raw " + type + " y", R"(
        const int64_t channel = i / inner % channels;
        const int64_t first = max(channel - before, int64_t(0)), last = min(channel + after, channels - 1);
        )" + c_type + R"( total = 0;
        for (int64_t k = first; k <= last; ++k) {
          const )" + c_type + R"( value = x[i + (k - channel) * inner];
          total += value * value;
        }
        y[i] = x[i] / pow(bias + scale * total, beta);)",
                                 "local_response");
  const double scale = call.number("alpha", static_cast<double>(1e-4F)) / static_cast<double>(size);
  return {filled_by(kernel,
                    {x, x.shape(1), inner, (size - 1) / 2, size / 2, scale, call.number("beta", 0.75),
                     call.number("bias", 1)},
                    x.shape(), x.dtype(), call.device())
              .astype(call[0].dtype(), false)};
}

/// x with its last axes, from `axis` on, as one, which operators before version 13 take together.
struct Lines {
  Array x;
  int axis;
};
Lines lines_of(const Call& call) {
  const bool is_old = call.opset() < 13;
  const Array& x = call[0];
  const int axis = call.axis(call.integer("axis", is_old ? 1 : -1), x.ndim());
  if (!is_old) return {x, axis};
  return {x.reshape({extent_between(x, 0, axis), extent_between(x, axis, x.ndim())}), 1};
}

Array exponentials(const Array& x, const Array& largest) {
  const std::string type = name(x.dtype());
  const auto& kernel = kernel_of("", type + " x, " + type + " m", type + " y", "y = exp(x - m);", "exponentials");
  return kernel(x, largest);
}

Results softmax(const Call& call) {
  const auto [given, axis] = lines_of(call);
  const Array x = in_compute_dtype(given);
  if (x.size() == 0) return {call[0]};
  const Array powers = exponentials(x, max(x, Dims{axis}, true));
  return {divide(powers, sum(powers, Dims{axis}, true)).reshape(call[0].shape()).astype(call[0].dtype(), false)};
}

Results log_softmax(const Call& call) {
  const auto [given, axis] = lines_of(call);
  const Array x = in_compute_dtype(given);
  if (x.size() == 0) return {call[0]};
  const Array largest = max(x, Dims{axis}, true);
  const Array total = log(sum(exponentials(x, largest), Dims{axis}, true));
  return {subtract(subtract(x, largest), total).reshape(call[0].shape()).astype(call[0].dtype(), false)};
}

Results hardmax(const Call& call) {
  const auto [x, axis] = lines_of(call);
  const Array places = arange(0, x.shape(axis), 1).reshape(ops::along_axis(x.ndim(), axis, -1));
  return {equal(argmax(x, Dims{axis}, true), places).astype(x.dtype()).reshape(call[0].shape())};
}

constexpr Operator kRows[] = {
    {"BatchNormalization", batch_normalization},
    {"GroupNormalization", group_normalization},
    {"Hardmax", hardmax},
    {"InstanceNormalization", instance_normalization},
    {"LRN", local_response_normalization},
    {"LayerNormalization", layer_normalization},
    {"LogSoftmax", log_softmax},
    {"LpNormalization", lp_normalization},
    {"MeanVarianceNormalization", mean_variance_normalization},
    {"RMSNormalization", rms_normalization},
    {"Softmax", softmax},
};

}  // namespace

std::span<const Operator> normalization_operators() { return kRows; }

}  // namespace iruka::nn
