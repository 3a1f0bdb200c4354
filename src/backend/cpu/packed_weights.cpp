#include "backend/cpu/packed_weights.h"

#include "backend/cpu/blocks.h"
#include "backend/cpu/window_loops.h"
#include "core/device.h"

namespace iruka::cpu_backend {
namespace {

template <class T>
Array packed(const Array& given, int64_t groups) {
  const Array weights = given.contiguous();
  const auto* const from = static_cast<const T*>(weights.data());
  const int64_t outputs = weights.shape(0) / groups, channels = weights.shape(1);
  const int64_t steps = weights.size() / weights.shape(0), taps = steps / channels;
  const int64_t bytes = window_loops().bytes, lanes = bytes / static_cast<int64_t>(sizeof(T));
  const Array made = Array::empty({groups, steps, divided(outputs, lanes) * lanes}, weights.dtype(), cpu());
  auto* to = static_cast<T*>(made.data());
  for (int64_t group = 0; group < groups; ++group) {
    for (const OutputRange& range : ranges_of(outputs, lanes, most_vectors(bytes))) {
      const T* const first = from + (group * outputs + range.first) * steps;
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t channel = 0; channel < channels; ++channel)
          for (int64_t k = 0; k < range.vectors * lanes; ++k)
            *to++ = k < range.outputs ? first[k * steps + channel * taps + tap] : T(0);
    }
  }
  return made;
}

}  // namespace

Array packed_by_outputs(const Array& weights, int64_t groups) {
  return weights.dtype() == Dtype::float32 ? packed<float>(weights, groups) : packed<double>(weights, groups);
}

}  // namespace iruka::cpu_backend
