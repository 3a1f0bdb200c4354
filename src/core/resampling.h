// The service that resamples pictures by compiled loops: one pass over the output of a chain of picture operations. A
// GPU has none, its passes are kernels (image/kernels/resample.h) with the same arithmetic.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/color_conversion.h"
#include "core/service.h"
#include "iruka/array.h"
#include "iruka/border.h"

namespace iruka {

/// The inputs of which each output along an axis is a weighted sum.
struct AxisMap {
  static constexpr int32_t kOutside = -1;  ///< the start of an output that is a constant
  static constexpr int kFixedBits = 14;    ///< of the fraction of a weight in `fixed`

  uint64_t id = 0;  ///< of these contents, for caches
  int64_t in = 0, out = 0;
  int taps = 1;                ///< of the output that has most
  std::vector<int32_t> start;  ///< of each output: its first input
  std::vector<int32_t> count;  ///< of each output: its inputs, 0 for a constant
  std::vector<float> weights;  ///< (out, taps), zeros behind `count`
  std::vector<int16_t> fixed;  ///< (out, even_taps()); empty where integers are not wanted or too coarse
  bool selects = false;        ///< each output is one input, or a constant
  bool is_run = false;         ///< and these inputs are neighbours in their order
  int64_t first = 0, end = 0;  ///< outputs outside of this range are constants, those inside are not

  int even_taps() const { return taps + taps % 2; }
};

/// What happens to each pixel behind resampling, in float32.
struct PointStep {
  /// normalize: (x - mean) * scale. round: to the values of `dtype`. The others round to these, too.
  /// affine: x * scale + offset. matrix: offset + the sum of scale[output, input] * x[input], in the order of inputs.
  /// gamma: most * gain * (x / most)^exponent. convert: of colours. lookup: table[channel, x].
  enum class Kind : uint8_t { normalize, round, affine, matrix, gamma, convert, lookup };
  Kind kind = Kind::normalize;
  std::vector<float> mean, scale, offset;  ///< of each channel, or one number
  Dtype dtype = Dtype::float32;
  float gain = 1, exponent = 1;
  ColorConversion conversion = ColorConversion::reorder;
  bool reverses_inputs = false, reverses_outputs = false;  ///< whether blue is the first of the three colours
  Array table;                                             ///< float32 (channels or 1, levels), on any device
  int64_t inputs = 1, outputs = 1;                         ///< channels

  bool is_color() const { return kind != Kind::normalize && kind != Kind::round; }
};

constexpr ColorRange color_range(Dtype dtype) {
  if (dtype == Dtype::uint8) return {255, 128, 180, 2.55F, 1, 128};
  if (dtype == Dtype::uint16) return {65535, 32768, 65536, 655.35F, 257, 32896};
  return {1, 0.5F, 360, 1, 1, 0};
}

/// How a picture is sampled at places between its pixels.
struct Warping {
  enum class Filter : uint8_t { nearest, linear, cubic };
  using Border = image::Border;
  Filter filter = Filter::linear;
  Border border = Border::constant;
  /// The place of an output (y, x) is (rows[y] + x * column), its first two numbers divided by the third one of a
  /// perspective.
  bool divides = false;
  float column[3] = {};
  std::vector<float> rows;  ///< (outputs, 3)
  /// Places by arrays; then nothing of the above counts but the filter and the border.
  const float* map_y = nullptr;
  const float* map_x = nullptr;
  int64_t map_line = 0;           ///< elements of a row
  int64_t height = 0, width = 0;  ///< of the picture
};

/// One pass over one picture. All channels of a pixel are neighbours (planes == 1), or each plane has one channel.
struct Resampling {
  const void* source = nullptr;
  const void* source_end = nullptr;  ///< loops read no byte from here on
  /// Where the memory holds some rows at a time, row y is at (first_row + y) % kept_rows.
  int64_t first_row = 0, kept_rows = 0;
  int64_t row_bytes = 0, plane_bytes = 0;
  Dtype source_dtype = Dtype::uint8;  ///< of the memory
  Dtype dtype = Dtype::uint8;         ///< of the values that are resampled: that of the memory, or float32
  int64_t planes = 1, channels = 1;
  /// For a warp, these say which of its outputs are the outputs of the pass.
  std::shared_ptr<const AxisMap> rows, columns;
  std::shared_ptr<const Warping> warp;
  /// Whether sums along rows are rounded to uint8, as which Pillow keeps them.
  bool rounds_columns = false;
  std::vector<float> outside;  ///< of each channel: the value of constants, one of `dtype`
  std::vector<PointStep> steps;
  void* result = nullptr;
  Dtype result_dtype = Dtype::uint8;
  int64_t result_row = 0, result_column = 0, result_channel = 0;  ///< strides in bytes

  /// Of the source; steps may change their number.
  int64_t all_channels() const { return planes * channels; }
  int64_t result_channels() const {
    int64_t count = all_channels();
    for (const PointStep& step : steps) {
      if (step.is_color()) count = step.outputs;
    }
    return count;
  }
};

/// One pass on the calling thread while the rows of its source arrive.
class ResamplingStream {
 public:
  static constexpr int64_t kRowsBeside = 16;  ///< that the memory holds, beside the taps of an output

  virtual ~ResamplingStream() = default;
  /// The memory has the rows before `end` now. Called for each row or for a few, in their order.
  void advance(int64_t end) {
    if (end >= wanted_) wanted_ = run(end);
  }

 private:
  /// Returns how many rows must be there for more.
  virtual int64_t run(int64_t end) = 0;
  int64_t wanted_ = 0;
};

class Resamplings {
 public:
  static constinit const Implementations<Resamplings> implementations;
  virtual ~Resamplings() = default;

  /// Fills the results of all passes, of pictures of any size, on all threads.
  virtual void run(std::span<const Resampling> passes) = 0;
  /// Null for a pass that reads its source in another order. The memory has rows->taps + kRowsBeside rows, or all.
  virtual std::unique_ptr<ResamplingStream> stream(const Resampling& pass) = 0;
};

}  // namespace iruka
