// The loops of colours. Most take planes: the values of one channel of neighbouring pixels.
#pragma once

#include <cstdint>

#include "core/color_conversion.h"

namespace iruka::cpu_backend {

/// A step of pixels of uint8, uint16 or float32 whose channels are neighbours in memory: a matrix of three by three, or
/// a conversion where there is none.
struct PixelStep {
  ColorConversion conversion = ColorConversion::reorder;
  ColorRange range{};
  bool reverses_inputs = false, reverses_outputs = false;  ///< whether blue is the first of the three colours
  const float* matrix = nullptr;
  float offset[3] = {};
};

struct ColorLoops {
  /// Words are uint16, or float16 whose values only move.
  void (*byte_pixels)(const PixelStep& step, const void* from, int64_t count, void* to);
  void (*word_pixels)(const PixelStep& step, const void* from, int64_t count, void* to);
  void (*float_pixels)(const PixelStep& step, const void* from, int64_t count, void* to);
  /// `inputs` and `outputs` have the channels of the conversion.
  void (*convert_bytes)(ColorConversion conversion, const uint8_t* const* inputs, uint8_t* const* outputs,
                        int64_t count);
  void (*convert_floats)(ColorConversion conversion, const ColorRange& range, const float* const* inputs,
                         float* const* outputs, int64_t count);
  void (*affine)(const float* input, float scale, float offset, float* output, int64_t count);
  /// One channel of a matrix, whose `row` has a number for each input.
  void (*matrix)(const float* const* inputs, int64_t channels, const float* row, float offset, float* output,
                 int64_t count);
  /// The same of uint8, rounded.
  void (*matrix_bytes)(const uint8_t* const* inputs, int64_t channels, const float* row, float offset, uint8_t* output,
                       int64_t count);
  void (*gamma)(const float* input, float most, float gain, float exponent, float* output, int64_t count);
  /// Tables of 256 numbers, or 65536 for uint16.
  void (*lookup_bytes)(const uint8_t* input, const uint8_t* table, uint8_t* output, int64_t count);
  /// Between the tables above left, above right, below left and below right, by the share of the right ones for each
  /// value and that of the lower ones.
  void (*blend_tables)(const void* input, bool is_wide, const void* const* tables, const float* across, float down,
                       void* output, int64_t count);
  void (*lookup)(const void* input, bool is_wide, const float* table, float* output, int64_t count);
  /// Adds the values, and their squares, of pixels of uint8 or uint16 to numbers for each channel.
  void (*level_sums)(const void* from, bool is_wide, int64_t channels, int64_t pixels, uint64_t* sums,
                     uint64_t* squares);
  /// The sum of the squares of differences of uint8 or uint16.
  uint64_t (*squared_difference)(const void* a, const void* b, bool is_wide, int64_t count);
};

namespace avx512 {
extern const ColorLoops color_loops;
}
namespace avx2 {
extern const ColorLoops color_loops;
}
namespace baseline {
extern const ColorLoops color_loops;
}

}  // namespace iruka::cpu_backend
