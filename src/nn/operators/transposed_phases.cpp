#include "nn/operators/transposed_phases.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/device.h"
#include "iruka/ops.h"
#include "nn/channels_last.h"
#include "nn/step_memory.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

/// Strides beyond these give phases of few elements.
constexpr double kMostPhases = 64;

/// The places first, first + stride... of an axis of the result, as a convolution of stride 1.
struct AxisPhase {
  int64_t first, count;     ///< of the result's places
  int64_t tap, step, taps;  ///< of the kernel: the first, and from one to the next
  int64_t dilation, before, behind;
};

/// A place o of the result sums the taps k of elements i for which o + before = i * stride + k * dilation.
AxisPhase phase_of(const Window& window, size_t axis, int64_t first) {
  const int64_t stride = window.stride[axis], dilation = window.dilation[axis], kernel = window.kernel[axis];
  const int64_t common = std::gcd(stride, dilation), at = first + window.before[axis];
  AxisPhase phase{first, (window.in[axis] - first + stride - 1) / stride, 0, stride / common, 0, dilation / common, 0,
                  0};
  while (phase.tap < std::min(phase.step, kernel) && (at - phase.tap * dilation) % stride != 0) ++phase.tap;
  if (phase.tap >= std::min(phase.step, kernel)) return phase;
  phase.taps = (kernel - phase.tap + phase.step - 1) / phase.step;
  const int64_t reach = (phase.taps - 1) * phase.dilation;  // the last tap sees the first of a window's elements
  phase.before = reach - (at - phase.tap * dilation) / stride;
  phase.behind = phase.count + reach - phase.before - window.out[axis];
  return phase;
}

using Phase = std::array<AxisPhase, 3>;

/// None where there are too many.
std::vector<Phase> phases_of(const Window& window) {
  std::vector<Phase> phases;
  const auto places = [&](size_t axis) { return std::min(window.stride[axis], window.in[axis]); };
  double count = 1;
  for (size_t axis = 0; axis < 3; ++axis) count *= static_cast<double>(places(axis));
  if (count > kMostPhases) return {};
  for (int64_t a = 0; a < places(0); ++a)
    for (int64_t b = 0; b < places(1); ++b)
      for (int64_t c = 0; c < places(2); ++c)
        phases.push_back({phase_of(window, 0, a), phase_of(window, 1, b), phase_of(window, 2, c)});
  return phases;
}

bool has_taps(const Phase& phase) {
  return std::ranges::all_of(phase, [](const AxisPhase& axis) { return axis.taps > 0; });
}

/// The kernel's part that a phase sees, as the weights (outputs, channels / groups, ...) of a convolution.
template <class T>
Array weights_of(const Phase& phase, const Window& window, const Array& weights, int64_t groups) {
  const int64_t channels = weights.shape(0) / groups, outputs = weights.shape(1), size = window.kernel_size();
  const Spatial taps{phase[0].taps, phase[1].taps, phase[2].taps};
  const Array made = Array::empty(window.shape(groups * outputs, channels, taps), weights.dtype(), weights.device());
  auto* to = static_cast<T*>(made.data());
  for (int64_t output = 0; output < groups * outputs; ++output) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t from_channel = output / outputs * channels + channel;
      const T* const from = static_cast<const T*>(weights.data()) + (from_channel * outputs + output % outputs) * size;
      const auto place = [&](size_t axis, int64_t k) {
        return phase[axis].tap + (taps[axis] - 1 - k) * phase[axis].step;
      };
      for (int64_t a = 0; a < taps[0]; ++a)
        for (int64_t b = 0; b < taps[1]; ++b)
          for (int64_t c = 0; c < taps[2]; ++c)
            *to++ = from[(place(0, a) * window.kernel[1] + place(1, b)) * window.kernel[2] + place(2, c)];
    }
  }
  return made;
}

/// The elements that windows of a phase see, without those that none does; nothing where that leaves none.
std::optional<Array> seen_by(const Phase& phase, Window& window, const Array& x) {
  Array seen = x;
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t begin = std::max<int64_t>(0, -phase[axis].before);
    const int64_t end = window.in[axis] - std::max<int64_t>(0, -phase[axis].behind);
    if (begin >= end) return {};
    window.before[axis] = std::max<int64_t>(0, phase[axis].before);
    window.behind[axis] = std::max<int64_t>(0, phase[axis].behind);
    if (end - begin == window.in[axis]) continue;
    seen = ops::cut(seen, x.ndim() - 3 + static_cast<int>(axis), begin, end);
    window.in[axis] = end - begin;
  }
  return seen;
}

/// What a node keeps for a phase.
std::vector<int64_t> key_of(const Phase& phase, Dtype dtype) {
  std::vector<int64_t> key{static_cast<int64_t>(dtype)};
  for (const AxisPhase& axis : phase) key.insert(key.end(), {axis.tap, axis.step, axis.taps});
  return key;
}

/// `weights` of any layout, and of the dtype of x or one that is narrower.
std::optional<Array> convolved_phase(const Phase& phase, const Window& window, const Array& x, const Array& weights,
                                     int64_t groups, const Array& bias, PreparedPhases* prepared) {
  Window own;
  own.rank = window.rank, own.in = window.out;
  for (size_t axis = 0; axis < 3; ++axis) {
    own.kernel[axis] = phase[axis].taps, own.dilation[axis] = phase[axis].dilation;
    own.out[axis] = phase[axis].count;
  }
  const std::optional<Array> seen = seen_by(phase, own, x);
  if (!seen) return {};
  const auto make = [&] {
    const Array given = weights.astype(x.dtype(), false).contiguous();
    auto made = std::make_shared<PhaseWeights>();
    made->factors = given.dtype() == Dtype::float32 ? weights_of<uint32_t>(phase, window, given, groups)
                                                    : weights_of<uint64_t>(phase, window, given, groups);
    return made;
  };
  const std::shared_ptr<PhaseWeights> part = prepared ? prepared->get(key_of(phase, x.dtype()), make) : make();
  return convolved_by_library(own, false, *seen, part->factors, groups, {.bias = bias}, &part->prepared);
}

/// The places of the result that a phase gives.
Array places_of(const Phase& phase, const Window& window, const Array& result) {
  Array places = result;
  for (int axis = 0; axis < window.rank; ++axis) {
    const auto at = static_cast<size_t>(3) - static_cast<size_t>(window.rank - axis);
    places = ops::cut(places, 2 + axis, phase[at].first, window.in[at], window.stride[at]);
  }
  return places;
}

}  // namespace

std::optional<Array> convolved_by_phases(const Window& window, const Array& given, const Array& weights, int64_t groups,
                                         const Array& bias, PreparedPhases* prepared) {
  if (!given.device().target().is_host || given.size() == 0 || weights.size() == 0) return {};
  const Dtype dtype = compute_dtype(given.dtype());
  if ((dtype != Dtype::float32 && dtype != Dtype::float64) || weights.dtype() != given.dtype()) return {};
  if (bias.valid() && bias.dtype() != given.dtype()) return {};
  const Array x = given.astype(dtype, false);
  const std::vector<Phase> phases = phases_of(window);
  if (phases.empty()) return {};
  const bool is_whole = std::ranges::all_of(phases, has_taps);
  const Array added = bias.valid() ? bias.astype(dtype, false) : bias;
  Array result;
  for (const Phase& phase : phases) {
    if (!has_taps(phase)) continue;
    const std::optional<Array> part =
        convolved_phase(phase, window, x, weights, groups, is_whole ? added : Array(), prepared);
    if (!part) return {};
    if (phases.size() == 1) return part;
    if (!result.valid()) {
      const Dims shape = window.shape(x.shape(0), weights.shape(1) * groups, window.in);
      result = empty_result(shape, dtype, x.device(), is_taken_channels_last(*part));
      if (!is_whole) result.fill(0);
    }
    places_of(phase, window, result).assign(*part);
  }
  if (!result.valid() || is_whole || !bias.valid()) return result.valid() ? std::optional<Array>(result) : std::nullopt;
  return add(result, added.reshape(ops::along_axis(result.ndim(), 1, -1)));
}

}  // namespace iruka::nn
