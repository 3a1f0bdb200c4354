// The values of one pixel of the result of a pass over a picture: the same arithmetic as the CPU's loops
// (backend/cpu/resample_*.h). Integers are exact, and sums of floats are fused multiply-adds in the order of the taps.
#pragma once

#include "image/kernels/job_of_thread.h"
#include "image/kernels/picture_job.h"

namespace iruka::image {

/// Numbers of element types in the texts of kernels, and of what a step does besides rounding to one of them.
enum Sample : int { kUint8, kUint16, kFloat16, kFloat32, kNormalize };

/// What a thread computes: kGroup channels, or all for 0, of a place among rows and columns of the axis maps. Index is
/// int, or long long for large arrays.
template <class Index> struct Output {
  Index y, x;
  int channel;   ///< the first one
  long long to;  ///< its element of the result
};
template <int kGroup, bool kHasPlanes, bool kIsTransposed, class Index>
IRUKA_INLINE Output<Index> output_at(const PictureJob& job, Index at) {
  Index pixel = at, channel = 0;
  if constexpr (kGroup == 1) {
    if constexpr (kHasPlanes) {
      channel = at / (Index(job.result_height) * Index(job.result_width));
      pixel = at - channel * (Index(job.result_height) * Index(job.result_width));
    } else {
      pixel = at / Index(job.channels);
      channel = at - pixel * Index(job.channels);
    }
  }
  const Index row = pixel / Index(job.result_width), column = pixel - row * Index(job.result_width);
  return {kIsTransposed ? column : row, kIsTransposed ? row : column, int(channel),
          row * job.result_row + column * job.result_column + channel * job.result_channel};
}

/// The source at the first channel of an output.
template <class T> IRUKA_INLINE const T* source_at(const PictureJob& job, int channel) {
  return (const T*)job.source + channel * job.channel;
}

/// The nearest integer from 0 to `most`, ties to even; 0 for NaN.
IRUKA_INLINE float rounded(float value, float most) {
  value = value > 0.0f ? value : 0.0f;
  value = value < most ? value : most;
  return rintf(value);
}
template <int kSample> IRUKA_INLINE float rounded_to(float value) {
  if (kSample == kUint8) return rounded(value, 255.0f);
  if (kSample == kUint16) return rounded(value, 65535.0f);
  return kSample == kFloat16 ? float(float16(value)) : value;
}

/// The values of an output.
template <int kGroup> struct Values {
  float of[kGroup];
};
template <int kGroup> IRUKA_INLINE Values<kGroup> outside_of(const PictureJob& job, int channel) {
  Values<kGroup> made;
  for (int c = 0; c < kGroup; ++c) made.of[c] = job.outside[channel + c];
  return made;
}

/// A sum along a row as a number of 6 bits of fraction: directly, or by way of a uint8.
template <bool kRounds> IRUKA_INLINE int along_row(int sum) {
  const int least = kRounds ? 0 : -32768, most = kRounds ? 255 : 32767;
  sum >>= kRounds ? 14 : 8;
  return (sum < least ? least : sum > most ? most : sum) << (kRounds ? 6 : 0);
}

template <bool kRounds, int kGroup, class Index, class T>
IRUKA_INLINE Values<kGroup> fixed_sums(const PictureJob& job, const T* source, Index y, Index x) {
  const int down = job.rows.count[y], across = job.columns.count[x];
  const Index column = Index(job.column), channel = Index(job.channel);
  const short* const weights_y = (const short*)job.rows.weights + y * Index(job.rows.taps);
  const short* const weights_x = (const short*)job.columns.weights + x * Index(job.columns.taps);
  const T* line = source + (Index(job.rows.start[y]) * Index(job.row) + Index(job.columns.start[x]) * column);
  int totals[kGroup];
  for (int c = 0; c < kGroup; ++c) totals[c] = 1 << 19;
  for (int j = 0; j < down; ++j, line += Index(job.row)) {
    int sums[kGroup];
    for (int c = 0; c < kGroup; ++c) sums[c] = kRounds ? 1 << 13 : 1 << 7;
    for (int k = 0; k < across; ++k) {
      const int weight = weights_x[k];
      for (int c = 0; c < kGroup; ++c) sums[c] += int(line[k * column + c * channel]) * weight;
    }
    const int weight = weights_y[j];
    for (int c = 0; c < kGroup; ++c) totals[c] += along_row<kRounds>(sums[c]) * weight;
  }
  Values<kGroup> made;
  for (int c = 0; c < kGroup; ++c) {
    const int total = totals[c] >> 20;
    made.of[c] = float(total < 0 ? 0 : total > 255 ? 255 : total);
  }
  return made;
}

template <bool kRounds, int kGroup, class Index, class T>
IRUKA_INLINE Values<kGroup> float_sums(const PictureJob& job, const T* source, Index y, Index x) {
  const int down = job.rows.count[y], across = job.columns.count[x];
  const Index column = Index(job.column), channel = Index(job.channel);
  const float* const weights_y = (const float*)job.rows.weights + y * Index(job.rows.taps);
  const float* const weights_x = (const float*)job.columns.weights + x * Index(job.columns.taps);
  const T* line = source + (Index(job.rows.start[y]) * Index(job.row) + Index(job.columns.start[x]) * column);
  Values<kGroup> totals;
  for (int c = 0; c < kGroup; ++c) totals.of[c] = 0;
  for (int j = 0; j < down; ++j, line += Index(job.row)) {
    float sums[kGroup];
    for (int c = 0; c < kGroup; ++c) sums[c] = 0;
    for (int k = 0; k < across; ++k) {
      const float weight = weights_x[k];
      for (int c = 0; c < kGroup; ++c) sums[c] = fmaf(float(line[k * column + c * channel]), weight, sums[c]);
    }
    const float weight = weights_y[j];
    for (int c = 0; c < kGroup; ++c)
      totals.of[c] = fmaf(kRounds ? rounded(sums[c], 255.0f) : sums[c], weight, totals.of[c]);
  }
  return totals;
}

/// How a pass computes its values.
enum Kind : int { kSelect, kFixed, kReal };

/// The values of an output that is no constant.
template <int kKind, bool kRounds, int kGroup, class Index, class T>
IRUKA_INLINE Values<kGroup> resampled(const PictureJob& job, const T* source, Index y, Index x) {
  if constexpr (kKind == kSelect) {
    const T* const at =
        source + (Index(job.rows.start[y]) * Index(job.row) + Index(job.columns.start[x]) * Index(job.column));
    Values<kGroup> made;
    for (int c = 0; c < kGroup; ++c) made.of[c] = float(at[c * Index(job.channel)]);
    return made;
  } else if constexpr (kKind == kFixed) {
    return fixed_sums<kRounds, kGroup>(job, source, y, x);
  } else {
    return float_sums<kRounds, kGroup>(job, source, y, x);
  }
}

/// The steps behind resampling.
template <int... kSteps>
IRUKA_INLINE float stepped(float value, const float* numbers, int channels, int channel) {
  const auto step = [&]<int kStep>() {
    if constexpr (kStep == kNormalize) {
      value = __fmul_rn(value - numbers[channel], numbers[channel + channels]);  // not part of a fused operation
      channel += 2 * channels;
    } else {
      value = rounded_to<kStep>(value);
    }
  };
  (step.template operator()<kSteps>(), ...);
  return value;
}

template <class Result, int... kSteps, int kGroup, class Index>
IRUKA_INLINE void store(const PictureJob& job, const Output<Index>& output, const Values<kGroup>& values) {
  Result* const to = (Result*)job.result + output.to;
  for (int c = 0; c < kGroup; ++c)
    to[c * job.result_channel] =
        Result(stepped<kSteps...>(values.of[c], job.numbers, job.channels, output.channel + c));
}

}  // namespace iruka::image
