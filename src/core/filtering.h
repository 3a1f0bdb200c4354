// The service that filters pictures by compiled loops: one window that moves over pictures. A GPU has none, its filters
// are kernels (image/kernels/filters.h) with the same arithmetic.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/service.h"
#include "iruka/dtype.h"

namespace iruka {

/// A window and what is computed of the pixels in it. The window of pixel (y, x) begins at (y - anchor_y, x -
/// anchor_x).
struct FilterWindow {
  /// sum: of `taps`, in float32, each a fused multiply-add in their order.
  /// integer_sum: the same of uint8 by integers, all of which int16 holds.
  /// separable: sums in float32 along columns of the window by `rows`, then of these along its rows by `columns`.
  /// fixed: sums of uint8 by `integer_rows` and `integer_columns`, which each add up to 256: (sum + 2^15) >> 16.
  /// integers: sums of uint8 by integers, all of which int16 holds.
  /// box: the sum of all integers as float32, times `scale`, rounded to even.
  /// least, greatest, median: of the values at `taps`, or of all values in the window if `is_full`.
  /// bilateral: the mean by weights 2^(tap.weight + scale d^2), where d is the sum of the absolute differences of all
  ///   channels from the pixel at the anchor, added up in the order of the taps.
  enum class Kind : uint8_t { sum, integer_sum, separable, fixed, integers, box, least, greatest, median, bilateral };
  struct Tap {
    int32_t y, x;  ///< from the corner of the window
    float weight;
  };

  Kind kind = Kind::sum;
  int32_t height = 1, width = 1, anchor_y = 0, anchor_x = 0;
  std::vector<Tap> taps;
  bool is_full = false;
  std::vector<float> rows, columns;
  std::vector<int16_t> integer_rows, integer_columns;
  float scale = 1;
};

/// One filter of one picture, whose channels are neighbours (planes == 1) or planes of one channel. Rows are dense.
struct Filtering {
  /// What becomes of the filtered value v and the value of another picture, which saturates.
  enum class Difference : uint8_t { none, other_minus, minus_other };

  const void* source = nullptr;
  int64_t row_bytes = 0, plane_bytes = 0;
  Dtype dtype = Dtype::uint8;
  int64_t planes = 1, channels = 1, height = 0, width = 0;
  std::shared_ptr<const FilterWindow> window;
  int border = 0;              ///< a BorderRule
  std::vector<float> outside;  ///< of each channel: the value beyond the ends of the picture
  Difference difference = Difference::none;
  const void* other = nullptr;  ///< of the result's dtype
  int64_t other_row = 0, other_plane = 0;
  void* result = nullptr;
  Dtype result_dtype = Dtype::uint8;  ///< that of the picture, int16 or float32
  int64_t result_row = 0, result_plane = 0;
};

class Filterings {
 public:
  static constinit const Implementations<Filterings> implementations;
  virtual ~Filterings() = default;

  /// Fills the results of all jobs, of pictures of any size, on all threads.
  virtual void run(std::span<const Filtering> jobs) = 0;
};

}  // namespace iruka
