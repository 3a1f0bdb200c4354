// Steps of a pass for one pixel, whose channels are `values`: the arithmetic of the CPU's loops
// (backend/cpu/color_lanes.h). kSample is the dtype to whose values results are rounded.
#pragma once

#include "core/kernels/color.h"
#include "image/kernels/warp.h"

namespace iruka::image {

IRUKA_INLINE ColorRange range_of(int sample) {
  if (sample == kUint8) return {255.0f, 128.0f, 180.0f, 2.55f, 1.0f, 128.0f};
  if (sample == kUint16) return {65535.0f, 32768.0f, 65536.0f, 655.35f, 257.0f, 32896.0f};
  return {1.0f, 0.5f, 360.0f, 1.0f, 1.0f, 0.0f};
}

template <int kChannels, int kSample> IRUKA_INLINE void round_pixel(float* values) {
  for (int c = 0; c < kChannels; c++) values[c] = rounded_to<kSample>(values[c]);
}

/// (x - mean) * scale, by a row of means and one of scales.
template <int kChannels>
IRUKA_INLINE void normalize_pixel(float* values, const float* numbers) {
  for (int c = 0; c < kChannels; c++) values[c] = (values[c] - numbers[c]) * numbers[kChannels + c];
}

/// x * scale + offset, by the same rows.
template <int kChannels, int kSample>
IRUKA_INLINE void scale_pixel(float* values, const float* numbers) {
  for (int c = 0; c < kChannels; c++)
    values[c] = rounded_to<kSample>(fmaf(values[c], numbers[c], numbers[kChannels + c]));
}

template <int kChannels, int kSample>
IRUKA_INLINE void gamma_pixel(float* values, const float* numbers) {
  const float most = range_of(kSample).most, gain = numbers[0], exponent = numbers[1];
  for (int c = 0; c < kChannels; c++) values[c] = rounded_to<kSample>(gamma_of(values[c], most, gain, exponent));
}

/// The sums of a matrix (outputs, inputs), behind which are the offsets.
template <int kInputs, int kOutputs, int kSample>
IRUKA_INLINE void multiply_pixel(float* values, const float* numbers) {
  float in[kInputs];
  for (int k = 0; k < kInputs; k++) in[k] = values[k];
  for (int c = 0; c < kOutputs; c++) {
    float sum = numbers[kInputs * kOutputs + c];
    for (int k = 0; k < kInputs; k++) sum = fmaf(numbers[c * kInputs + k], in[k], sum);
    values[c] = rounded_to<kSample>(sum);
  }
}

template <int kConversion, int kInputs, int kOutputs, int kSample, bool kReversesInputs, bool kReversesOutputs>
IRUKA_INLINE void convert_pixel(float* values) {
  if constexpr (kSample == kUint8) {
    int in[4] = {}, out[4] = {};
    for (int c = 0; c < kInputs; c++) in[kReversesInputs && c < 3 ? 2 - c : c] = int(values[c]);
    convert_bytes<kConversion>(in, out);
    for (int c = 0; c < kOutputs; c++) values[c] = float(out[kReversesOutputs && c < 3 ? 2 - c : c]);
  } else {
    float in[4] = {}, out[4] = {};
    for (int c = 0; c < kInputs; c++) in[kReversesInputs && c < 3 ? 2 - c : c] = values[c];
    convert_floats<kConversion>(in, out, range_of(kSample));
    for (int c = 0; c < kOutputs; c++) values[c] = rounded_to<kSample>(out[kReversesOutputs && c < 3 ? 2 - c : c]);
  }
}

template <int kChannels, int kLevels, bool kHasRows>
IRUKA_INLINE void look_up_pixel(float* values, const float* table) {
  for (int c = 0; c < kChannels; c++) values[c] = table[(kHasRows ? c * kLevels : 0) + int(values[c])];
}

template <class Result, int kChannels, class Index>
IRUKA_INLINE void store_pixel(const PictureJob& job, const Output<Index>& output, const float* values) {
  Result* const to = (Result*)job.result + output.to;
  for (int c = 0; c < kChannels; c++) to[c * job.result_channel] = Result(values[c]);
}

}  // namespace iruka::image
