// The service that resamples pictures by compiled loops: one pass over the output of a chain of picture operations. A
// GPU has none, its passes are kernels (image/kernels/resample.h) with the same arithmetic.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/service.h"
#include "iruka/dtype.h"

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
  std::vector<int16_t> fixed;  ///< (out, even_taps()); empty where integers would be too coarse
  bool selects = false;        ///< each output is one input, or a constant
  bool is_run = false;         ///< and these inputs are neighbours in their order
  int64_t first = 0, end = 0;  ///< outputs outside of this range are constants, those inside are not

  int even_taps() const { return taps + taps % 2; }
};

/// What happens to each value behind resampling, in float32.
struct PointStep {
  enum class Kind : uint8_t { normalize, round };
  Kind kind = Kind::normalize;
  std::vector<float> mean, scale;  ///< of each channel: (x - mean) * scale
  Dtype dtype = Dtype::float32;    ///< to whose values `round` rounds
};

/// How a picture is sampled at places between its pixels.
struct Warping {
  enum class Filter : uint8_t { nearest, linear, cubic };
  enum class Border : uint8_t { constant, edge, reflect, symmetric, wrap };
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

  int64_t all_channels() const { return planes * channels; }
};

class Resamplings {
 public:
  static constinit const Implementations<Resamplings> implementations;
  virtual ~Resamplings() = default;

  /// Fills the results of all passes, of pictures of any size, on all threads.
  virtual void run(std::span<const Resampling> passes) = 0;
};

}  // namespace iruka
