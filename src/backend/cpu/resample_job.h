// What the loops of resampling work on. Rows are dense; a loop over rows takes up to kRowsAtOnce that share columns.
#pragma once

#include <cstdint>

#include "core/kernels/border.h"

namespace iruka::cpu_backend {

inline constexpr int kRowsAtOnce = 4;
/// Rows have room for so many bytes behind their end, which loops may read and overwrite.
inline constexpr int64_t kRowRoom = 256;
/// Bits of the fraction of rows between the two sums of a uint8 picture.
inline constexpr int kRowBits = 6;

/// The columns of an output row by integer weights.
struct FixedColumns {
  int64_t pixels = 0;
  int channels = 1, pairs = 1;       ///< pairs of taps; the weights behind the last tap are 0
  const int32_t* start = nullptr;    ///< of each pixel
  const int16_t* weights = nullptr;  ///< (pixels, 2 * pairs)
  bool rounds = false;               ///< whether sums are rounded to the values of uint8
  /// Where the bytes for a group of neighbouring outputs lie close together, they are loaded at once. Null elsewhere.
  const int32_t* group_start = nullptr;  ///< of each group, in bytes
  const uint8_t* places = nullptr;  ///< (groups, 4 * size of a group): of the two bytes of each pair in what was loaded
  /// (groups / n, pairs, n, 2 * size of a group), where loops work on n groups at once
  const int16_t* group_weights = nullptr;
  int64_t groups = 0;
  bool is_wide = false;  ///< whether places lie within two loads
  bool is_near = false;  ///< whether all taps of a group lie in what is loaded for the first pair
  /// Where there are no groups and up to 4 channels: (pixels, window_vectors, numbers of a vector, 2), each pair of
  /// weights once for each of window_lanes().
  const int16_t* window_weights = nullptr;
  int window_vectors = 0;
};

/// The numbers that a pixel takes in a vector.
constexpr int window_lanes(int channels) { return channels == 3 ? 4 : channels; }

/// The columns of an output row in float32.
struct FloatColumns {
  int64_t pixels = 0;
  int64_t channels = 1;
  int taps = 1;
  const int32_t* start = nullptr;
  const int32_t* count = nullptr;
  const float* weights = nullptr;  ///< (pixels, taps)
  bool rounds = false;             ///< whether sums are rounded to the values of uint8
  /// Where the inputs of a tap of 16 neighbouring outputs lie close together, they are loaded at once. Null elsewhere.
  const int32_t* group_start = nullptr;   ///< of each group, in elements
  const int32_t* places = nullptr;        ///< (groups, 16): of the first tap in what was loaded
  const uint16_t* group_masks = nullptr;  ///< (groups, taps): which outputs have that tap
  const float* group_weights = nullptr;   ///< (groups, taps, 16)
  int64_t groups = 0;
};

/// The bytes of an output row that is a selection of a row's pixels, 64 at a time.
struct SelectedBytes {
  int64_t count = 0;
  const int32_t* group_start = nullptr;  ///< of each group
  const uint8_t* places = nullptr;       ///< (groups, 64): in the 128 bytes from its start on
};

enum class Sample : uint8_t { uint8, uint16, float16, float32 };

struct FinishStep {
  bool rounds = false;
  Sample sample = Sample::float32;  ///< to which it rounds
  const float* mean = nullptr;      ///< `period` numbers
  const float* scale = nullptr;
};
/// What is done to a row of results. Elements i and i + period have the same constants.
struct Finish {
  Sample from = Sample::uint8, to = Sample::uint8;
  const FinishStep* steps = nullptr;
  int step_count = 0;
  int64_t period = 16;  ///< a multiple of 16
};

/// Pixels of a picture at places of its plane.
struct WarpRow {
  enum class Filter : uint8_t { nearest, linear, cubic };
  Filter filter = Filter::linear;
  BorderRule border = kConstantBorder;
  Sample sample = Sample::uint8;
  const char* source = nullptr;
  const char* source_end = nullptr;
  int64_t row_bytes = 0;
  int32_t height = 0, width = 0;
  int channels = 1;
  const float* y = nullptr;  ///< of each pixel
  const float* x = nullptr;
  int64_t pixels = 0;
  const void* outside = nullptr;  ///< a pixel of constants as in the result
  void* result = nullptr;         ///< elements of the source for `nearest`, uint8 where the source is, else float32
};
/// Places along a row of a warp: (row + x * column), its first two numbers divided by the third.
struct WarpPlaces {
  float row[3] = {}, column[3] = {};
  bool divides = false;
  const int32_t* start = nullptr;  ///< x of each pixel
};

/// Rows of pixels that become columns: pixel x of row y goes to `to + y * row + x * column`.
struct TurnedRows {
  const char* from = nullptr;
  int64_t line = 0;  ///< bytes from a row to the next one
  int64_t rows = 0, pixels = 0;
  int64_t bytes = 0;  ///< of a pixel
  char* to = nullptr;
  int64_t row = 0, column = 0;
};

struct ResampleLoops {
  int group = 0;  ///< outputs of a group of FixedColumns, 0 where there are none
  int groups_at_once = 1;
  int window = 0;         ///< bytes of a load for a group
  bool has_wide = false;  ///< whether two loads will do
  int numbers = 0;        ///< of 32 bits in a vector of window_weights, 0 where there are none
  int float_window = 0;   ///< elements that are loaded for a group of FloatColumns, 0 where there are none
  void (*fixed_columns)(const FixedColumns& columns, const uint8_t* const* rows, int16_t* const* results, int count);
  /// `taps` is even.
  void (*fixed_rows)(const int16_t* const* rows, const int16_t* weights, int taps, int64_t count, uint8_t* result);
  void (*float_columns)(const FloatColumns& columns, const float* const* rows, float* const* results, int count);
  void (*float_rows)(const float* const* rows, const float* weights, int taps, int64_t count, float* result);
  /// Copies pixels of `bytes` bytes.
  void (*select)(const int32_t* start, int64_t pixels, int bytes, const char* row, char* result);
  /// The same by groups of bytes; null where there are none.
  void (*select_bytes)(const SelectedBytes& bytes, const char* row, char* result);
  void (*places)(const WarpPlaces& places, int64_t pixels, float* y, float* x);
  void (*warp)(const WarpRow& row);
  void (*finish)(const Finish& finish, const void* from, int64_t count, void* to);
  /// (pixels, channels) becomes (channels, pixels) with `line` elements between its rows, and back.
  void (*split)(const void* from, int64_t pixels, int64_t channels, int itemsize, int64_t line, void* to);
  void (*join)(const void* from, int64_t pixels, int64_t channels, int itemsize, int64_t line, void* to);
  /// Takes up to some dozens of rows, so that these stay in the cache.
  void (*turn)(const TurnedRows& rows);
};

namespace avx512 {
extern const ResampleLoops resample_loops;
}
namespace avx2 {
extern const ResampleLoops resample_loops;
}
namespace baseline {
extern const ResampleLoops resample_loops;
}

}  // namespace iruka::cpu_backend
