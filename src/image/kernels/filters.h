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
  int first_y, last_y, first_x, last_x;  ///< of the taps

  /// From pixel to pixel, in elements.
  template <bool kHasPlanes> IRUKA_INLINE Index row() const { return kHasPlanes ? width : width * Index(channels); }
  template <bool kHasPlanes> IRUKA_INLINE Index column() const { return kHasPlanes ? 1 : Index(channels); }
  template <bool kHasPlanes> IRUKA_INLINE Index element(Index y, Index x, int channel) const {
    return kHasPlanes ? (channel * height + y) * width + x : (y * width + x) * channels + channel;
  }
  /// Whether all taps of a window whose corner is there are pixels.
  IRUKA_INLINE bool holds(Index y, Index x) const {
    return y + first_y >= 0 && y + last_y < height && x + first_x >= 0 && x + last_x < width;
  }
};
template <class Index> IRUKA_INLINE WindowShape<Index> shape_of(const FilterJob& job) {
  return {job.height, job.width,   job.channels, job.anchor_y, job.anchor_x,
          job.taps,   job.first_y, job.last_y,   job.first_x,  job.last_x};
}
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
  return Number(source[shape.template element<kHasPlanes>(row, column, channel)]);
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

/// What a window computes of the values at its taps, which `at(tap)` gives.
template <int kKind, class Number, int kBits, class Weights, class At>
IRUKA_INLINE Number over_taps(int taps, const Weights& weights, At at) {
  if constexpr (kKind == kSum) {
    Number sum = 0;
    for (int k = 0; k < taps; ++k) {
      if constexpr (Number(0.5f) == 0)
        sum += at(k) * Number(weights[k]);
      else
        sum = fmaf(at(k), float(weights[k]), sum);
    }
    return sum;
  } else if constexpr (kKind == kLeast || kKind == kGreatest) {
    Number value = at(0);
    for (int k = 1; k < taps; ++k) {
      const Number next = at(k);
      if (kKind == kLeast ? next < value : value < next) value = next;
    }
    return value;
  } else {
    unsigned found = 0;
    for (int bit = kBits - 1; bit >= 0; --bit) {
      const unsigned trial = found | 1u << bit;
      const float limit = value_of_key<kBits>(trial);
      int count = 0;
      for (int k = 0; k < taps; ++k) count += at(k) < limit ? 1 : 0;
      if (count <= taps / 2) found = trial;
    }
    return Number(value_of_key<kBits>(found));
  }
}

/// The same for one element. Number is int for exact sums, else float.
template <int kKind, class Number, int kBits, int kBorder, bool kHasPlanes, class Index, class Source, class Outside,
          class Places, class Weights>
IRUKA_INLINE Number windowed(const Source& source, const Outside& outside, const WindowShape<Index>& shape,
                             const Places& tap_y, const Places& tap_x, const Weights& weights,
                             const WindowPlace<Index>& to) {
  const Index y = to.y - shape.anchor_y, x = to.x - shape.anchor_x;
  if (shape.holds(y, x)) {
    const Index corner = shape.template element<kHasPlanes>(y, x, to.channel);
    const Index row = shape.template row<kHasPlanes>(), column = shape.template column<kHasPlanes>();
    return over_taps<kKind, Number, kBits>(
        shape.taps, weights, [&](int k) { return Number(source[corner + tap_y[k] * row + tap_x[k] * column]); });
  }
  return over_taps<kKind, Number, kBits>(shape.taps, weights, [&](int k) {
    return seen<Number, kBorder, kHasPlanes>(source, outside, shape, Index(y + tap_y[k]), Index(x + tap_x[k]),
                                             to.channel);
  });
}

/// The means of all channels of a pixel by weights that fall with distance and with the difference of all channels.
/// `at(tap, channel)` gives values, and `center(channel)` those of the pixel.
template <int kChannels, class Weights, class At, class Center>
IRUKA_INLINE void bilateral_means(int taps, const Weights& weights, float scale, At at, Center center_of,
                                  float (&means)[kChannels]) {
  float center[kChannels], value[kChannels], total = 0;
  for (int c = 0; c < kChannels; ++c) {
    center[c] = center_of(c);
    means[c] = 0;
  }
  for (int k = 0; k < taps; ++k) {
    float difference = 0;
    for (int c = 0; c < kChannels; ++c) {
      value[c] = at(k, c);
      difference += fabsf(value[c] - center[c]);
    }
    const float weight = power_up_to_one(fmaf(difference * difference, scale, weights[k]));
    for (int c = 0; c < kChannels; ++c) means[c] = fmaf(value[c], weight, means[c]);
    total += weight;
  }
  for (int c = 0; c < kChannels; ++c) means[c] /= total;
}
template <int kChannels, int kBorder, bool kHasPlanes, class Index, class Source, class Outside, class Places,
          class Weights>
IRUKA_INLINE void bilateral(const Source& source, const Outside& outside, const WindowShape<Index>& shape,
                            const Places& tap_y, const Places& tap_x, const Weights& weights, float scale, Index to_y,
                            Index to_x, float (&means)[kChannels]) {
  const Index y = to_y - shape.anchor_y, x = to_x - shape.anchor_x;
  const auto center = [&](int c) { return float(source[shape.template element<kHasPlanes>(to_y, to_x, c)]); };
  if (shape.holds(y, x)) {
    const auto at = [&](int k, int c) {
      return float(source[shape.template element<kHasPlanes>(y + tap_y[k], x + tap_x[k], c)]);
    };
    return bilateral_means<kChannels>(shape.taps, weights, scale, at, center, means);
  }
  const auto at = [&](int k, int c) {
    return seen<float, kBorder, kHasPlanes>(source, outside, shape, Index(y + tap_y[k]), Index(x + tap_x[k]), c);
  };
  bilateral_means<kChannels>(shape.taps, weights, scale, at, center, means);
}

/// The nearest integer from `least` to `most`, ties to even; 0 for NaN, or `least` if that is larger.
IRUKA_INLINE float saturated(float value, float least, float most) {
  value = value == value ? value : 0.0f;
  value = value > least ? value : least;
  value = value < most ? value : most;
  return rintf(value);
}

}  // namespace iruka::image
