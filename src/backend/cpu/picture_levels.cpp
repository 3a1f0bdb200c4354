#include "backend/cpu/picture_levels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "backend/cpu/color_steps.h"
#include "core/once.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

constexpr int64_t kStripPixels = 1 << 16;
/// Tables that are counted in turn, so that equal neighbours do not wait for each other.
constexpr int kTables = 4;

/// Rows of a rectangle.
struct Strip {
  const LevelCount* rectangle;
  int64_t begin, end;
};

std::vector<Strip> strips_of(std::span<const LevelCount> rectangles) {
  std::vector<Strip> strips;
  for (const LevelCount& rectangle : rectangles) {
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
  const LevelCount& job = *strip.rectangle;
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
  const LevelCount& job = *strip.rectangle;
  for (int64_t y = strip.begin; y < strip.end && !should_stop(); ++y) {
    const char* const row = static_cast<const char*>(job.source) + y * job.row_bytes;
    for (int64_t x = 0; x < job.columns; ++x)
      ++job.counts[*reinterpret_cast<const uint16_t*>(row + x * job.column_bytes)];
  }
}

/// The two tiles between whose centres a place lies, and the share of the second: in the order of operations of
/// image/kernels/equalize.h.
struct TilePair {
  int64_t first, second;
  float share;
};
TilePair tiles_at(int64_t place, int64_t size, int64_t tiles) {
  const float at = static_cast<float>(place) * (1.0F / static_cast<float>(size)) - 0.5F, whole = std::floor(at);
  const auto first = static_cast<int64_t>(whole);
  return {std::max<int64_t>(first, 0), std::min(first + 1, tiles - 1), at - whole};
}

/// Rows of a channel by the tables of tiles. Columns between the same tiles are a run.
class TileMapping {
 public:
  explicit TileMapping(const LevelMap& job) : job_(job), item_(job.is_wide ? 2 : 1), loops_(color_loops()) {
    for (int64_t x = 0; x < job.columns; ++x) {
      const TilePair tiles = tiles_at(x, job.tile_width, job.tile_columns);
      shares_.push_back(tiles.share);
      if (runs_.empty() || runs_.back().first != tiles.first || runs_.back().second != tiles.second)
        runs_.push_back({x, x, tiles.first, tiles.second});
      runs_.back().end = x + 1;
    }
  }

  void run(int64_t begin, int64_t end) const {
    std::vector<char> line(static_cast<size_t>(job_.columns * item_)), made(line.size());
    for (int64_t y = begin; y < end && !should_stop(); ++y) {
      const char* source = static_cast<const char*>(job_.source) + y * job_.row_bytes;
      char* const result = static_cast<char*>(job_.result) + y * job_.result_row;
      if (job_.column_bytes != item_) {
        copy(source, job_.column_bytes, line.data(), item_);
        source = line.data();
      }
      const bool is_dense = job_.result_column == item_;
      map_row(y, source, is_dense ? result : made.data());
      if (!is_dense) copy(made.data(), item_, result, job_.result_column);
    }
  }

 private:
  struct Run {
    int64_t begin, end, first, second;
  };

  void map_row(int64_t y, const char* source, char* result) const {
    const TilePair down = tiles_at(y, job_.tile_height, job_.tile_rows);
    const auto table = [&](int64_t row, int64_t column) {
      const int64_t levels = job_.is_wide ? 65536 : 256;
      return static_cast<const char*>(job_.tables) + (row * job_.tile_columns + column) * levels * item_;
    };
    for (const Run& run : runs_) {
      const void* const tables[] = {table(down.first, run.first), table(down.first, run.second),
                                    table(down.second, run.first), table(down.second, run.second)};
      loops_.blend_tables(source + run.begin * item_, job_.is_wide, tables, shares_.data() + run.begin, down.share,
                          result + run.begin * item_, run.end - run.begin);
    }
  }
  void copy(const char* from, int64_t from_step, char* to, int64_t to_step) const {
    for (int64_t x = 0; x < job_.columns; ++x)
      std::memcpy(to + x * to_step, from + x * from_step, static_cast<size_t>(item_));
  }

  const LevelMap& job_;
  const int64_t item_;
  const ColorLoops& loops_;
  std::vector<float> shares_;
  std::vector<Run> runs_;
};

class CpuPictureLevels final : public PictureLevels {
 public:
  void count(std::span<const LevelCount> rectangles) override {
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
  void map(const LevelMap& channel) override {
    const TileMapping mapping(channel);
    parallel_for(channel.rows, std::max<int64_t>(kStripPixels / channel.columns, 1),
                 [&](int64_t begin, int64_t end) { mapping.run(begin, end); });
  }
  void add_up(std::span<const LevelSums> rectangles) override {
    std::mutex mutex;
    for (const LevelSums& job : rectangles) {
      const auto channels = static_cast<size_t>(job.channels);
      parallel_for(job.rows, std::max<int64_t>(kStripPixels / job.pixels, 1), [&](int64_t begin, int64_t end) {
        std::vector<uint64_t> made(2 * channels);
        for (int64_t y = begin; y < end && !should_stop(); ++y)
          color_loops().level_sums(static_cast<const char*>(job.source) + y * job.row_bytes, job.is_wide, job.channels,
                                   job.pixels, made.data(), made.data() + channels);
        const std::lock_guard lock(mutex);
        for (size_t c = 0; c < channels; ++c) {
          job.sums[c] += static_cast<int64_t>(made[c]);
          job.squares[c] += static_cast<int64_t>(made[channels + c]);
        }
      });
    }
  }
  uint64_t squared_difference(const LevelPair& pair) override {
    const int64_t item = pair.is_wide ? 2 : 1, row_bytes = pair.values * item;
    // Dense pictures are one row, of which any part may be a strip.
    const bool is_dense = pair.a_row == row_bytes && pair.b_row == row_bytes;
    const int64_t rows = is_dense ? 1 : pair.rows, values = is_dense ? pair.rows * pair.values : pair.values;
    const int64_t parts = (values + kStripPixels - 1) / kStripPixels;
    std::atomic<uint64_t> all{0};
    parallel_for(rows * parts, std::max<int64_t>(kStripPixels / values, 1), [&](int64_t begin, int64_t end) {
      uint64_t sum = 0;
      for (int64_t k = begin; k < end && !should_stop(); ++k) {
        const int64_t row = k / parts, first = k % parts * kStripPixels;
        sum += color_loops().squared_difference(static_cast<const char*>(pair.a) + row * pair.a_row + first * item,
                                                static_cast<const char*>(pair.b) + row * pair.b_row + first * item,
                                                pair.is_wide, std::min(kStripPixels, values - first));
      }
      all += sum;
    });
    return all;
  }
};

}  // namespace

PictureLevels& cpu_picture_levels() {
  return made_once([] { return CpuPictureLevels(); });
}

}  // namespace iruka::cpu_backend
