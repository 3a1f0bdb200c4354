// The values of one pixel of the result of a warp: the same arithmetic as the CPU's loops
// (backend/cpu/resample_warp.h).
#pragma once

#include "core/kernels/border.h"
#include "image/kernels/resample.h"

namespace iruka::image {

enum WarpFilter : int { kNearest, kLinear, kCubic };

/// A coordinate within the range in which places are told apart; NaN is the lowest.
IRUKA_INLINE float bounded(float place) {
  const float farthest = 1073741824.0f;
  place = place > -farthest ? place : -farthest;
  return place < farthest ? place : farthest;
}
/// Keys' cubic convolution with a = -0.75 at four neighbours, from the distance to the second one.
IRUKA_INLINE float outer_weight(float t) { return fmaf(fmaf(fmaf(-0.75f, t, 3.75f), t, -6.0f), t, 3.0f); }
IRUKA_INLINE float inner_weight(float t) {
  const float product = fmaf(1.25f, t, -2.25f) * t;
  return fmaf(product, t, 1.0f);
}

/// A coordinate as the first of kTaps neighbours and their weights.
template <int kTaps, class Weight> struct Taps {
  int first;
  Weight weights[kTaps];
};
template <int kTaps> IRUKA_INLINE Taps<kTaps, float> float_taps(float place) {
  place = bounded(place);
  const float lower = floorf(place), rest = place - lower;
  if constexpr (kTaps == 2)
    return {int(lower), {1.0f - rest, rest}};
  else
    return {int(lower) - 1,
            {outer_weight(rest + 1.0f), inner_weight(rest), inner_weight(1.0f - rest), outer_weight(2.0f - rest)}};
}
/// Weights of 11 bits whose sum is one.
template <int kTaps> IRUKA_INLINE Taps<kTaps, int> fixed_taps(float place) {
  const Taps<kTaps, float> exact = float_taps<kTaps>(place);
  Taps<kTaps, int> made;
  made.first = exact.first;
  int sum = 0;
  for (int k = 0; k < kTaps; ++k) sum += made.weights[k] = int(rintf(exact.weights[k] * 2048.0f));
  made.weights[kTaps == 4 ? 1 : 0] += 2048 - sum;
  return made;
}
/// The pixel whose centre is nearest, of two the one with an even number.
IRUKA_INLINE int nearest_place(float place) {
  place = bounded(place);
  const float lower = floorf(place), rest = place - lower;
  const int below = int(lower);
  return below + (rest > 0.5f || (rest == 0.5f && below % 2 != 0) ? 1 : 0);
}

/// A pixel of the source by its first channel. That of a constant is the first pixel, so that any load is valid.
template <class T> struct Pixel {
  const T* at;
  bool is_constant;
};
template <int kBorder, class Index, class T>
IRUKA_INLINE Pixel<T> pixel_at(const PictureJob& job, const T* source, int y, int x) {
  const int row = place_within(kBorder, y, job.height), column = place_within(kBorder, x, job.width);
  const bool is_constant = row < 0 || column < 0;
  return {source + (is_constant ? Index(0) : row * Index(job.row) + column * Index(job.column)), is_constant};
}
template <class T> IRUKA_INLINE float value_at(const PictureJob& job, const Pixel<T>& pixel, int channel, int c) {
  return pixel.is_constant ? job.outside[channel + c] : float(pixel.at[c * job.channel]);
}

/// Whether all neighbours of a place are constants, whose sum would not be exact.
template <int kBorder, int kTaps> IRUKA_INLINE bool is_constant(const PictureJob& job, int y, int x) {
  return kBorder == kConstantBorder && (y <= -kTaps || x <= -kTaps || y >= job.height || x >= job.width);
}

template <int kTaps, int kBorder, int kGroup, class Index, class T>
IRUKA_INLINE Values<kGroup> fixed_warp(const PictureJob& job, const T* source, float y, float x, int channel) {
  const Taps<kTaps, int> down = fixed_taps<kTaps>(y), across = fixed_taps<kTaps>(x);
  Values<kGroup> made = outside_of<kGroup>(job, channel);
  if (is_constant<kBorder, kTaps>(job, down.first, across.first)) return made;
  int totals[kGroup];
  for (int c = 0; c < kGroup; ++c) totals[c] = 1 << 21;
  for (int j = 0; j < kTaps; ++j) {
    int sums[kGroup];
    for (int c = 0; c < kGroup; ++c) sums[c] = 0;
    for (int k = 0; k < kTaps; ++k) {
      const Pixel<T> pixel = pixel_at<kBorder, Index>(job, source, down.first + j, across.first + k);
      for (int c = 0; c < kGroup; ++c) sums[c] += int(value_at(job, pixel, channel, c)) * across.weights[k];
    }
    for (int c = 0; c < kGroup; ++c) totals[c] += sums[c] * down.weights[j];
  }
  for (int c = 0; c < kGroup; ++c) {
    const int total = totals[c] >> 22;
    made.of[c] = float(total < 0 ? 0 : total > 255 ? 255 : total);
  }
  return made;
}

template <int kTaps, int kBorder, int kGroup, class Index, class T>
IRUKA_INLINE Values<kGroup> float_warp(const PictureJob& job, const T* source, float y, float x, int channel) {
  const Taps<kTaps, float> down = float_taps<kTaps>(y), across = float_taps<kTaps>(x);
  Values<kGroup> totals = outside_of<kGroup>(job, channel);
  if (is_constant<kBorder, kTaps>(job, down.first, across.first)) return totals;
  for (int c = 0; c < kGroup; ++c) totals.of[c] = 0;
  for (int j = 0; j < kTaps; ++j) {
    float sums[kGroup];
    for (int c = 0; c < kGroup; ++c) sums[c] = 0;
    for (int k = 0; k < kTaps; ++k) {
      const Pixel<T> pixel = pixel_at<kBorder, Index>(job, source, down.first + j, across.first + k);
      for (int c = 0; c < kGroup; ++c) sums[c] = fmaf(value_at(job, pixel, channel, c), across.weights[k], sums[c]);
    }
    for (int c = 0; c < kGroup; ++c) totals.of[c] = fmaf(sums[c], down.weights[j], totals.of[c]);
  }
  return totals;
}

/// Where an output of a warp is in the picture.
struct Place {
  float y, x;
};
template <bool kDivides, class Index> IRUKA_INLINE Place place_of(const PictureJob& job, Index y, Index x) {
  const float* const row = job.places + 3 * y;
  const float at = float(int(x)), from_x = fmaf(at, job.across_x, row[0]), from_y = fmaf(at, job.across_y, row[1]);
  if (!kDivides) return {from_y, from_x};
  const float scale = 1.0f / fmaf(at, job.across, row[2]);
  return {from_y * scale, from_x * scale};
}
/// The same by arrays.
template <class Index> IRUKA_INLINE Place mapped_place(const PictureJob& job, Index y, Index x) {
  const Index at = y * Index(job.map_line) + x;
  return {job.map_y[at], job.map_x[at]};
}

/// The values at a place of a picture: kIsFixed for uint8.
template <int kFilter, int kBorder, bool kIsFixed, int kGroup, class Index, class T>
IRUKA_INLINE Values<kGroup> warped(const PictureJob& job, const T* source, Place place, int channel) {
  if constexpr (kFilter == kNearest) {
    const Pixel<T> pixel = pixel_at<kBorder, Index>(job, source, nearest_place(place.y), nearest_place(place.x));
    Values<kGroup> made;
    for (int c = 0; c < kGroup; ++c) made.of[c] = value_at(job, pixel, channel, c);
    return made;
  } else {
    constexpr int kTaps = kFilter == kLinear ? 2 : 4;
    if constexpr (kIsFixed)
      return fixed_warp<kTaps, kBorder, kGroup, Index>(job, source, place.y, place.x, channel);
    else
      return float_warp<kTaps, kBorder, kGroup, Index>(job, source, place.y, place.x, channel);
  }
}

}  // namespace iruka::image
