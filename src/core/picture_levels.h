// The service that counts and compares the levels of pictures, and maps them by tables, by compiled loops. A GPU has
// none, it does these by kernels (image/kernels/equalize.h).
#pragma once

#include <cstdint>
#include <span>

#include "core/service.h"

namespace iruka {

/// A rectangle of one channel, uint8 or uint16, whose values are added to 256 or 65536 counts.
struct LevelCount {
  const void* source = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t row_bytes = 0, column_bytes = 0;
  bool is_wide = false;  ///< uint16
  int64_t* counts = nullptr;
};

/// One channel, uint8 or uint16, whose values go through the tables of the four nearest tiles, between which is linear
/// interpolation.
struct LevelMap {
  const void* source = nullptr;
  void* result = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t row_bytes = 0, column_bytes = 0, result_row = 0, result_column = 0;
  bool is_wide = false;
  const void* tables = nullptr;  ///< (tile_rows, tile_columns, levels) of the picture's dtype
  int64_t tile_height = 1, tile_width = 1, tile_rows = 1, tile_columns = 1;
};

/// Rows of the values of two pictures, uint8 or uint16, which are fewer than 2^32.
struct LevelPair {
  const void* a = nullptr;
  const void* b = nullptr;
  int64_t rows = 0, values = 0;
  int64_t a_row = 0, b_row = 0;  ///< bytes from row to row
  bool is_wide = false;
};

/// Dense pixels of rows of uint8 or uint16, whose values and squares are added up for each of their channels.
struct LevelSums {
  const void* source = nullptr;
  int64_t rows = 0, pixels = 0, channels = 1;
  int64_t row_bytes = 0;
  bool is_wide = false;
  int64_t* sums = nullptr;     ///< (channels,)
  int64_t* squares = nullptr;  ///< (channels,)
};

class PictureLevels {
 public:
  static constinit const Implementations<PictureLevels> implementations;
  virtual ~PictureLevels() = default;

  /// All rectangles on all threads. Their counts do not overlap.
  virtual void count(std::span<const LevelCount> rectangles) = 0;
  virtual void map(const LevelMap& channel) = 0;
  /// Adds to the sums of each of these.
  virtual void add_up(std::span<const LevelSums> rectangles) = 0;
  /// The sum of the squares of all differences, which is exact.
  virtual uint64_t squared_difference(const LevelPair& pair) = 0;
};

}  // namespace iruka
