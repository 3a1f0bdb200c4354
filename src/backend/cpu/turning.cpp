#include "backend/cpu/turning.h"

#include <algorithm>

#include "backend/cpu/window_loops.h"
#include "core/once.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

/// Rows of a tile, whose lines of cache stay while all columns are written.
constexpr int64_t kTile = 16;
/// Elements for which a further thread pays.
constexpr int64_t kGrain = 1 << 15;

/// Numbers of other sizes than the loops' have.
template <class T>
void turn_rows(const T* from, int64_t rows, int64_t columns, T* to, int64_t line) {
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row) to[column * line + row] = from[row * columns + column];
}
void turn_rows(const float* from, int64_t rows, int64_t columns, float* to, int64_t line) {
  window_loops().turn(from, columns, rows, columns, to, line);
}

template <class T>
void turn_all(const void* from, void* to, int64_t count, int64_t rows, int64_t columns) {
  const int64_t tiles = (rows + kTile - 1) / kTile;
  parallel_for(count * tiles, std::max<int64_t>(1, kGrain / (kTile * columns)), [=](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t matrix = tile / tiles * rows * columns, row = tile % tiles * kTile;
      turn_rows(static_cast<const T*>(from) + matrix + row * columns, std::min(kTile, rows - row), columns,
                static_cast<T*>(to) + matrix + row, rows);
    }
  });
}

class CpuTurning final : public Turning {
 public:
  bool turn(const void* from, void* to, int64_t itemsize, int64_t count, int64_t rows, int64_t columns) override {
    if (count * rows * columns == 0) return true;
    switch (itemsize) {
      case 1: turn_all<uint8_t>(from, to, count, rows, columns); return true;
      case 2: turn_all<uint16_t>(from, to, count, rows, columns); return true;
      case 4: turn_all<float>(from, to, count, rows, columns); return true;
      case 8: turn_all<uint64_t>(from, to, count, rows, columns); return true;
      default: return false;
    }
  }
};

}  // namespace

Turning& cpu_turning() {
  return made_once_locked([] { return CpuTurning(); });
}

}  // namespace iruka::cpu_backend
