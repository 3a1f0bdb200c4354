// One element of the result of a window that moves over a picture: the same arithmetic as the CPU's loops
// (backend/cpu/filter_*.h). Sums of integers are exact, those of floats fused multiply-adds in the order of the taps.
#pragma once

#include "core/kernels/border.h"
#include "image/kernels/job_of_thread.h"
#include "image/kernels/picture_job.h"

namespace iruka::image {

/// What a window computes.
enum WindowKind : int { kSum, kLeast, kGreatest, kMedian };

/// A picture in C order, and the window. Index is int, or int64_t for large arrays.
template <class Index> struct WindowShape {
  Index height, width;
  int channels, anchor_y, anchor_x, taps;
};
template <class Index> struct WindowPlace {
  Index y, x;
  int channel;
};
/// The pixel of element `at`.
template <bool kHasPlanes, class Index>
IRUKA_INLINE WindowPlace<Index> window_place(const WindowShape<Index>& shape, Index at) {
  if (kHasPlanes) {
    const Index row = at / shape.width, plane = row / shape.height;
    return {row - plane * shape.height, at - row * shape.width, int(plane)};
  }
  const Index pixel = at / shape.channels, row = pixel / shape.width;
  return {row, pixel - row * shape.width, int(at - pixel * shape.channels)};
}

/// The value at any place of one channel, as a Number.
template <class Number, int kBorder, bool kHasPlanes, class Index, class Source, class Outside>
IRUKA_INLINE Number seen(const Source& source, const Outside& outside, const WindowShape<Index>& shape, Index y,
                         Index x, int channel) {
  const Index row = place_within(kBorder, y, shape.height), column = place_within(kBorder, x, shape.width);
  if (row < 0 || column < 0) return Number(outside[channel]);
  if (kHasPlanes) return Number(source[(channel * shape.height + row) * shape.width + column]);
  return Number(source[(row * shape.width + column) * shape.channels + channel]);
}

/// The value of a number in the order of values: of kBits bits, or the bits of a float.
template <int kBits> IRUKA_INLINE float value_of_key(unsigned key) {
  if (kBits < 32) return float(key);
  if (key & 0x80000000u) {
    const unsigned positive = key & 0x7fffffffu;
    return __builtin_bit_cast(float, positive < 0x7f800000u ? positive : 0x7f800000u);  // no NaN above infinity
  }
  return __builtin_bit_cast(float, ~key);
}

/// 2^t for t <= 0, from below -126 on 2^-126: a polynomial of the fraction, within 2.1e-7, times a power of two.
IRUKA_INLINE float power_up_to_one(float t) {
  t = t > -126.0f ? t : -126.0f;
  const float whole = rintf(t), rest = t - whole;
  float p = 1.339086331e-3f;
  p = fmaf(p, rest, 9.676031768e-3f);
  p = fmaf(p, rest, 5.550356954e-2f);
  p = fmaf(p, rest, 2.402210683e-1f);
  p = fmaf(p, rest, 6.931471825e-1f);
  p = fmaf(p, rest, 1.0f);
  return __builtin_bit_cast(float, __builtin_bit_cast(int, p) + int(unsigned(int(whole)) << 23));
}

/// What a window computes of the pixels at its taps, for one element. Number is int for exact sums, else float.
template <int kKind, class Number, int kBits, int kBorder, bool kHasPlanes, class Index, class Source, class Outside,
          class Places, class Weights>
IRUKA_INLINE Number windowed(const Source& source, const Outside& outside, const WindowShape<Index>& shape,
                             const Places& tap_y, const Places& tap_x, const Weights& weights,
                             const WindowPlace<Index>& to) {
  const Index y = to.y - shape.anchor_y, x = to.x - shape.anchor_x;
  const auto at = [&](int tap, int channel) {
    return seen<Number, kBorder, kHasPlanes>(source, outside, shape, Index(y + tap_y[tap]), Index(x + tap_x[tap]),
                                             channel);
  };
  if constexpr (kKind == kSum) {
    Number sum = 0;
    for (int k = 0; k < shape.taps; ++k) {
      if constexpr (Number(0.5f) == 0)
        sum += at(k, to.channel) * Number(weights[k]);
      else
        sum = fmaf(at(k, to.channel), float(weights[k]), sum);
    }
    return sum;
  } else if constexpr (kKind == kLeast || kKind == kGreatest) {
    Number value = at(0, to.channel);
    for (int k = 1; k < shape.taps; ++k) {
      const Number next = at(k, to.channel);
      if (kKind == kLeast ? next < value : value < next) value = next;
    }
    return value;
  } else if constexpr (kKind == kMedian) {
    unsigned found = 0;
    for (int bit = kBits - 1; bit >= 0; --bit) {
      const unsigned trial = found | 1u << bit;
      const float limit = value_of_key<kBits>(trial);
      int count = 0;
      for (int k = 0; k < shape.taps; ++k) count += at(k, to.channel) < limit ? 1 : 0;
      if (count <= shape.taps / 2) found = trial;
    }
    return Number(value_of_key<kBits>(found));
  }
}

/// The means of all channels of a pixel by weights that fall with distance and with the difference of all channels.
template <int kChannels, int kBorder, bool kHasPlanes, class Index, class Source, class Outside, class Places,
          class Weights>
IRUKA_INLINE void bilateral(const Source& source, const Outside& outside, const WindowShape<Index>& shape,
                            const Places& tap_y, const Places& tap_x, const Weights& weights, float scale, Index y,
                            Index x, float (&means)[kChannels]) {
  float center[kChannels], value[kChannels], total = 0;
  for (int c = 0; c < kChannels; ++c) {
    center[c] = seen<float, kBorder, kHasPlanes>(source, outside, shape, y, x, c);
    means[c] = 0;
  }
  for (int k = 0; k < shape.taps; ++k) {
    const Index row = y - shape.anchor_y + tap_y[k], column = x - shape.anchor_x + tap_x[k];
    float difference = 0;
    for (int c = 0; c < kChannels; ++c) {
      value[c] = seen<float, kBorder, kHasPlanes>(source, outside, shape, row, column, c);
      difference += fabsf(value[c] - center[c]);
    }
    const float weight = power_up_to_one(fmaf(difference * difference, scale, weights[k]));
    for (int c = 0; c < kChannels; ++c) means[c] = fmaf(value[c], weight, means[c]);
    total += weight;
  }
  for (int c = 0; c < kChannels; ++c) means[c] /= total;
}

/// The nearest integer from `least` to `most`, ties to even; 0 for NaN, or `least` if that is larger.
IRUKA_INLINE float saturated(float value, float least, float most) {
  value = value == value ? value : 0.0f;
  value = value > least ? value : least;
  value = value < most ? value : most;
  return rintf(value);
}

}  // namespace iruka::image
