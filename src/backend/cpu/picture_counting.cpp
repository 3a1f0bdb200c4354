#include "backend/cpu/picture_counting.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/once.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

constexpr int64_t kStripPixels = 1 << 16;
/// Tables that are counted in turn, so that equal neighbours do not wait for each other.
constexpr int kTables = 4;

/// Rows of a rectangle.
struct Strip {
  const PictureCount* rectangle;
  int64_t begin, end;
};

std::vector<Strip> strips_of(std::span<const PictureCount> rectangles) {
  std::vector<Strip> strips;
  for (const PictureCount& rectangle : rectangles) {
    // The tables of uint16 are as large as a strip, so that these rectangles stay whole.
    const int64_t rows = rectangle.is_wide ? rectangle.rows : std::max<int64_t>(kStripPixels / rectangle.columns, 1);
    for (int64_t begin = 0; begin < rectangle.rows; begin += rows)
      strips.push_back({&rectangle, begin, std::min(begin + rows, rectangle.rows)});
  }
  return strips;
}

template <int64_t kStep>
void count_row(const uint8_t* from, int64_t step, int64_t columns, uint32_t (*tables)[256]) {
  const int64_t apart = kStep ? kStep : step;
  int64_t x = 0;
  for (; x + kTables <= columns; x += kTables)
    for (int k = 0; k < kTables; ++k) ++tables[k][from[(x + k) * apart]];
  for (; x < columns; ++x) ++tables[0][from[x * apart]];
}

void count_bytes(const Strip& strip, std::mutex& mutex) {
  const PictureCount& job = *strip.rectangle;
  uint32_t tables[kTables][256] = {};
  for (int64_t y = strip.begin; y < strip.end; ++y) {
    const auto* const row = static_cast<const uint8_t*>(job.source) + y * job.row_bytes;
    switch (job.column_bytes) {
      case 1: count_row<1>(row, 1, job.columns, tables); break;
      case 3: count_row<3>(row, 3, job.columns, tables); break;
      default: count_row<0>(row, job.column_bytes, job.columns, tables);
    }
  }
  const std::lock_guard lock(mutex);
  for (size_t k = 0; k < 256; ++k) job.counts[k] += int64_t{tables[0][k]} + tables[1][k] + tables[2][k] + tables[3][k];
}

void count_words(const Strip& strip) {
  const PictureCount& job = *strip.rectangle;
  for (int64_t y = strip.begin; y < strip.end && !should_stop(); ++y) {
    const char* const row = static_cast<const char*>(job.source) + y * job.row_bytes;
    for (int64_t x = 0; x < job.columns; ++x)
      ++job.counts[*reinterpret_cast<const uint16_t*>(row + x * job.column_bytes)];
  }
}

class CpuPictureCounts final : public PictureCounts {
 public:
  void run(std::span<const PictureCount> rectangles) override {
    const std::vector<Strip> strips = strips_of(rectangles);
    std::mutex mutex;
    const auto body = [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end && !should_stop(); ++k) {
        const Strip& strip = strips[static_cast<size_t>(k)];
        strip.rectangle->is_wide ? count_words(strip) : count_bytes(strip, mutex);
      }
    };
    parallel_for(std::ssize(strips), 1, body);
  }
};

}  // namespace

PictureCounts& cpu_picture_counts() {
  return made_once([] { return CpuPictureCounts(); });
}

}  // namespace iruka::cpu_backend
