// What the loops of filters work on: rows of elements, so that the channels of pixels are a matter of offsets. All rows
// that are read have room behind their end (kRowRoom of resample_job.h) for a vector that reaches beyond it.
#pragma once

#include <cstdint>

namespace iruka::cpu_backend {

/// The mean of neighbours by weights that fall with distance and with difference.
struct BilateralRow {
  /// Rows of float32: (window rows, channels), each padded on both sides.
  const float* const* rows = nullptr;
  int channels = 1;
  int taps = 0;
  const int32_t* tap_y = nullptr;
  const int32_t* tap_x = nullptr;
  const float* exponents = nullptr;  ///< of each tap
  int32_t center_y = 0, center_x = 0;
  float scale = 0;  ///< of squared differences, in the exponent
  int64_t pixels = 0;
  float* const* results = nullptr;  ///< a row for each channel, with room
};

/// The most rows of windows of medians whose columns are sorted: of 1, 3 and 5.
inline constexpr int kMostSorted = 5;
/// Neighbours that are at most so many elements apart come from the registers of vectors beside them.
inline constexpr int64_t kMostShifted = 4;

/// Loops for elements of one type.
template <class T>
struct RankLoops {
  /// The least, or greatest, of the elements of the same number of some rows. `result` may be the first row.
  void (*least)(const T* const* rows, int count, int64_t elements, T* result);
  void (*greatest)(const T* const* rows, int count, int64_t elements, T* result);
  /// The least, or greatest, of `width` neighbours, 3 or 5, up to kMostShifted elements apart, of which the middle one
  /// begins at `row`. Rows have room for a vector before their beginning and behind their end.
  void (*least_neighbor)(const T* row, int width, int64_t step, int64_t elements, T* result);
  void (*greatest_neighbor)(const T* row, int width, int64_t step, int64_t elements, T* result);
  /// Sorts each column of kMostSorted rows at most.
  void (*sort_columns)(const T* const* rows, int size, int64_t elements, T* const* sorted);
  /// The median of `size` columns that are sorted and `step` elements apart.
  void (*median_of_columns)(const T* const* sorted, int size, int64_t step, int64_t elements, T* result);
  /// The median of windows of three rows and columns, up to kMostShifted elements apart. Rows have room for a vector
  /// behind their end, and so have the pixels that lie before and behind each row, to which `left` and `right` point.
  void (*median_of_nine)(const T* const* rows, const T* const* left, const T* const* right, int64_t step,
                         int64_t elements, T* result);
  /// The median of a window of any `size` of rows and columns. Neighbouring columns are `step` elements apart.
  void (*median)(const T* const* rows, int size, int64_t step, int64_t elements, T* result);
  /// a - b, saturated.
  void (*subtract)(const T* a, const T* b, int64_t elements, T* result);
};

/// How a sum is divided: (sum + half) * factor >> (16 + shift), if there is a factor, else rounded to even in float32.
struct BoxDivision {
  float scale = 1;
  uint16_t factor = 0, half = 0;
  int shift = 0;
};

/// Numbers of a histogram of bytes: how often their upper 4 bits are 0, 1, ..., then how often the bytes are. Windows
/// of medians have histograms from this size on.
inline constexpr int64_t kHistogram = 16 + 256;
inline constexpr int kHistogramSize = 13;

inline constexpr int kDistanceReach = 64, kDistanceRoom = 256;

/// Sums of elements T as S.
template <class T, class S>
struct BoxLoops {
  void (*add_rows)(const T* const* rows, int count, int64_t elements, S* sums);
  /// Adds a row to sums and takes another one away.
  void (*slide)(const T* added, const T* removed, int64_t elements, S* sums);
  /// The quotients of sums of `width` neighbours, `step` elements apart. `space` is a row like `sums` for each bit of
  /// the width.
  void (*across)(const S* sums, S* const* space, int width, int64_t step, int64_t elements, const BoxDivision& division,
                 T* result);
};

struct FilterLoops {
  /// Sums of bytes modulo 2^16: results are to be taken as uint16 or as int16.
  void (*integer_rows)(const uint8_t* const* rows, const int16_t* weights, int taps, int64_t elements, uint16_t* sums);
  /// Sums of int16 that int16 holds.
  void (*integer_columns)(const int16_t* row, const int16_t* weights, int taps, int64_t step, int64_t elements,
                          int16_t* result);
  /// (sum + 2^15) >> 16 of uint16 with weights that add up to 256. `taps` is even; the last weight may be 0.
  void (*fixed_columns)(const uint16_t* row, const int16_t* weights, int taps, int64_t step, int64_t elements,
                        uint8_t* result);
  void (*int16_to_uint8)(const int16_t* from, int64_t elements, uint8_t* to);
  void (*int16_to_float)(const int16_t* from, int64_t elements, float* to);
  void (*float_to_int16)(const float* from, int64_t elements, int16_t* to);
  RankLoops<uint8_t> bytes;
  RankLoops<uint16_t> words;
  RankLoops<float> floats;
  BoxLoops<uint8_t, uint16_t> small_boxes;
  BoxLoops<uint8_t, uint32_t> byte_boxes;
  BoxLoops<uint16_t, uint32_t> word_boxes;
  /// Counts the bytes of a row in the histograms of their columns, and no longer those of another row, if one is given.
  void (*count_row)(const uint8_t* added, const uint8_t* removed, int64_t elements, uint16_t* histograms);
  /// The medians of square windows of `size` columns, `step` elements apart, from the histograms of the columns.
  void (*median_by_histograms)(const uint16_t* histograms, int size, int64_t step, int64_t elements, uint8_t* result);
  void (*bilateral)(const BilateralRow& row);
  /// The least distance of each pixel of a row by way of its columns, whose own distances are given, for a
  /// DistanceMetric: squares for `euclidean`. Columns have room for kDistanceRoom numbers in front and behind, which
  /// are large. False where some pixel is farther than kDistanceReach from its nearest column; the result is then
  /// undefined.
  bool (*settle)(int metric, const int32_t* columns, int64_t elements, int32_t* least);
  void (*square_roots)(const int32_t* squares, int64_t elements, float* result);
};

namespace avx512 {
extern const FilterLoops filter_loops;
}
namespace avx2 {
extern const FilterLoops filter_loops;
}
namespace baseline {
extern const FilterLoops filter_loops;
}

}  // namespace iruka::cpu_backend
