// One element of the result of a warp: the same arithmetic as the CPU's loops (backend/cpu/resample_warp.h).
#pragma once

#include "image/kernels/resample.h"

namespace iruka::image {

enum Border : int { kConstant, kEdge, kReflect, kSymmetric, kWrap };
enum WarpFilter : int { kNearest, kLinear, kCubic };

/// A coordinate within the range in which places are told apart; NaN is the lowest.
IRUKA_INLINE float bounded(float place) {
  const float farthest = 1073741824.0f;
  place = place > -farthest ? place : -farthest;
  return place < farthest ? place : farthest;
}
IRUKA_INLINE long long modulo(long long a, long long b) {
  const long long rest = a % b;
  return rest < 0 ? rest + b : rest;
}
/// The place within [0, extent) that stands for a place beyond it, or -1 for a constant.
template <int kBorder> IRUKA_INLINE int place_within(int place, int extent) {
  if (place >= 0 && place < extent) return place;
  if (kBorder == kConstant) return -1;
  if (kBorder == kEdge) return place < 0 ? 0 : extent - 1;
  if (kBorder == kWrap) return int(modulo(place, extent));
  if (kBorder == kReflect && extent == 1) return 0;
  const long long period = 2LL * extent - (kBorder == kReflect ? 2 : 0), at = modulo(place, period);
  return int(at < extent ? at : 2LL * extent - (kBorder == kReflect ? 2 : 1) - at);
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

struct PictureSize {
  int height, width;
};

/// The element at a place of the picture, or the constant.
template <int kBorder, class Index, class Source, class Outside>
IRUKA_INLINE float value_at(const Source& source, const Picture<Index>& picture, const Outside& outside,
                            PictureSize size, int y, int x, int channel) {
  const int row = place_within<kBorder>(y, size.height), column = place_within<kBorder>(x, size.width);
  if (row < 0 || column < 0) return outside[channel];
  return float(source[picture.first + row * picture.row + column * picture.column + channel * picture.channel]);
}

/// Whether all neighbours of a place are constants, whose sum would not be exact.
template <int kBorder, int kTaps> IRUKA_INLINE bool is_constant(PictureSize size, int y, int x) {
  return kBorder == kConstant && (y <= -kTaps || x <= -kTaps || y >= size.height || x >= size.width);
}

/// The value at (y, x) of a picture: kIsFixed for uint8.
template <int kFilter, int kBorder, bool kIsFixed, class Index, class Source, class Outside>
IRUKA_INLINE float warped(const Source& source, const Picture<Index>& picture, const Outside& outside, PictureSize size,
                          float y, float x, int channel) {
  const auto at = [&](int row, int column) {
    return value_at<kBorder>(source, picture, outside, size, row, column, channel);
  };
  if constexpr (kFilter == kNearest) {
    return at(nearest_place(y), nearest_place(x));
  } else if constexpr (kIsFixed) {
    constexpr int kTaps = kFilter == kLinear ? 2 : 4;
    const Taps<kTaps, int> down = fixed_taps<kTaps>(y), across = fixed_taps<kTaps>(x);
    if (is_constant<kBorder, kTaps>(size, down.first, across.first)) return outside[channel];
    int total = 1 << 21;
    for (int j = 0; j < kTaps; ++j) {
      int sum = 0;
      for (int k = 0; k < kTaps; ++k) sum += int(at(down.first + j, across.first + k)) * across.weights[k];
      total += sum * down.weights[j];
    }
    total >>= 22;
    return float(total < 0 ? 0 : total > 255 ? 255 : total);
  } else {
    constexpr int kTaps = kFilter == kLinear ? 2 : 4;
    const Taps<kTaps, float> down = float_taps<kTaps>(y), across = float_taps<kTaps>(x);
    if (is_constant<kBorder, kTaps>(size, down.first, across.first)) return outside[channel];
    float total = 0;
    for (int j = 0; j < kTaps; ++j) {
      float sum = 0;
      for (int k = 0; k < kTaps; ++k) sum = fmaf(at(down.first + j, across.first + k), across.weights[k], sum);
      total = fmaf(sum, down.weights[j], total);
    }
    return total;
  }
}

/// Where an output of a warp is in the picture. `rows` has three numbers for each row of outputs.
struct WarpPlaces {
  float across_x, across_y, across;
};
struct Place {
  float y, x;
};
template <bool kDivides, class Rows> IRUKA_INLINE Place place_of(const Rows& rows, const WarpPlaces& places, int y,
                                                                 int x) {
  const float at = float(x), from_x = fmaf(at, places.across_x, rows[3 * y]);
  const float from_y = fmaf(at, places.across_y, rows[3 * y + 1]);
  if (!kDivides) return {from_y, from_x};
  const float scale = 1.0f / fmaf(at, places.across, rows[3 * y + 2]);
  return {from_y * scale, from_x * scale};
}

}  // namespace iruka::image
