// Exact distance transforms: Meijster, Roerdink and Hesselink (2000).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "backend/cpu/filter_job.h"
#include "backend/cpu/filter_pass.h"
#include "backend/cpu/regions.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

constexpr int32_t kFar = 1 << 30;  ///< a column without background
constexpr int64_t kColumns = 256;  ///< of a strip that is scanned from both ends
constexpr int64_t kRowsOfAThread = 16;

/// How far the nearest background pixel of the same column is, for some columns.
void scan_columns(const BinaryPicture& picture, int64_t begin, int64_t end, int32_t* distances) {
  const int64_t width = picture.width;
  int32_t last[kColumns];
  std::fill_n(last, kColumns, kFar);
  for (int64_t y = 0; y < picture.height; ++y) {
    const uint8_t* const row = picture.data + y * picture.row_bytes + begin;
    int32_t* const to = distances + y * width + begin;
    for (int64_t k = 0; k < end - begin; ++k) to[k] = last[k] = row[k] ? std::min(last[k] + 1, kFar) : 0;
  }
  std::fill_n(last, kColumns, kFar);
  for (int64_t y = picture.height - 1; y >= 0; --y) {
    int32_t* const to = distances + y * width + begin;
    for (int64_t k = 0; k < end - begin; ++k) to[k] = last[k] = std::min(last[k] + 1, to[k]);
  }
}

/// A column of a row that is nearest to the pixels from `first` on, until the next one is.
struct Part {
  int32_t column;
  int32_t first;
};

/// The distance of pixel x by way of column i, whose background is g away, or its square.
struct Euclidean {
  static int64_t distance(int64_t x, int64_t i, int64_t g) { return (x - i) * (x - i) + g * g; }
  /// The last pixel for which column i is not farther than column u > i.
  static int64_t last_pixel(int64_t i, int64_t u, int64_t gi, int64_t gu) {
    // Numbers of less than 53 bits: the quotient in double is the exact one, rounded down.
    const auto above = static_cast<double>(u * u - i * i + gu * gu - gi * gi);
    return static_cast<int64_t>(std::floor(above / static_cast<double>(2 * (u - i))));
  }
};
struct Chessboard {
  static int64_t distance(int64_t x, int64_t i, int64_t g) { return std::max(std::abs(x - i), g); }
  static int64_t last_pixel(int64_t i, int64_t u, int64_t gi, int64_t gu) {
    return gi <= gu ? std::max(i + gu, (i + u) / 2) : std::min(u - gi, (i + u) / 2);
  }
};

/// The lower envelope of the distances by way of all columns. `put` gets each pixel's distance.
template <class Metric, class Put>
void nearest_columns(const int32_t* g, int64_t width, std::vector<Part>& parts, Put&& put) {
  parts.clear();
  for (int64_t u = 0; u < width; ++u) {
    if (g[u] >= kFar) continue;
    while (!parts.empty() && Metric::distance(parts.back().first, parts.back().column, g[parts.back().column]) >
                                 Metric::distance(parts.back().first, u, g[u]))
      parts.pop_back();
    if (parts.empty()) {
      parts.push_back({static_cast<int32_t>(u), 0});
      continue;
    }
    const int64_t i = parts.back().column, first = Metric::last_pixel(i, u, g[i], g[u]) + 1;
    if (first < width) parts.push_back({static_cast<int32_t>(u), static_cast<int32_t>(first)});
  }
  int64_t end = width;
  for (size_t k = parts.size(); k-- > 0;) {
    const int64_t column = parts[k].column;
    for (int64_t x = parts[k].first; x < end; ++x) put(x, Metric::distance(x, column, g[column]));
    end = parts[k].first;
  }
}

/// The memory of a thread for a row.
struct RowSpace {
  explicit RowSpace(int64_t width)
      : columns(static_cast<size_t>(width + 2 * kDistanceRoom)), least(static_cast<size_t>(width + kDistanceRoom)) {}
  std::vector<int32_t> columns, least;
  std::vector<Part> parts;
};

/// Rows whose pixels are all near to a background pixel: by a search on both sides.
bool finish_near_row(DistanceMetric metric, const FilterLoops& loops, int32_t* g, int64_t width, RowSpace& space) {
  constexpr int32_t kMost = INT16_MAX;  // whose square is far enough
  const bool is_euclidean = metric == DistanceMetric::euclidean;
  int32_t* const columns = space.columns.data() + kDistanceRoom;
  for (int64_t x = 0; x < width; ++x) {
    const int32_t each = std::min(g[x], kMost);
    columns[x] = is_euclidean ? each * each : each;
  }
  // What the loop reads in front and behind.
  std::fill_n(space.columns.data(), kDistanceRoom, kMost * kMost);
  std::fill_n(columns + width, kDistanceRoom, kMost * kMost);
  if (!loops.settle(static_cast<int>(metric), columns, width, space.least.data())) return false;
  if (is_euclidean)
    loops.square_roots(space.least.data(), width, reinterpret_cast<float*>(g));
  else
    std::copy_n(space.least.data(), width, g);
  return true;
}

/// `row` has distances along columns and gets those in the picture.
void finish_row(DistanceMetric metric, const FilterLoops& loops, int32_t* row, int64_t width, RowSpace& space) {
  if (finish_near_row(metric, loops, row, width, space)) return;
  std::copy_n(row, width, space.columns.data());
  const int32_t* const g = space.columns.data();
  auto* const floats = reinterpret_cast<float*>(row);
  int32_t* const integers = row;
  std::vector<Part>& parts = space.parts;
  const bool is_far = std::all_of(g, g + width, [](int32_t each) { return each >= kFar; });
  if (is_far) {
    if (metric == DistanceMetric::euclidean)
      std::fill_n(floats, width, std::numeric_limits<float>::infinity());
    else
      std::fill_n(integers, width, std::numeric_limits<int32_t>::max());
    return;
  }
  switch (metric) {
    case DistanceMetric::euclidean:
      nearest_columns<Euclidean>(g, width, parts, [&](int64_t x, int64_t square) {
        floats[x] = static_cast<float>(std::sqrt(static_cast<double>(square)));
      });
      break;
    case DistanceMetric::chessboard:
      nearest_columns<Chessboard>(g, width, parts,
                                  [&](int64_t x, int64_t distance) { integers[x] = static_cast<int32_t>(distance); });
      break;
    case DistanceMetric::cityblock: {
      int32_t last = kFar;
      for (int64_t x = 0; x < width; ++x) integers[x] = last = std::min(last + 1, g[x]);
      for (int64_t x = width - 1; x >= 0; --x) integers[x] = last = std::min(last + 1, integers[x]);
    }
  }
}

}  // namespace

void fill_distances(const BinaryPicture& picture, DistanceMetric metric, void* result) {
  const int64_t height = picture.height, width = picture.width;
  auto* const distances = static_cast<int32_t*>(result);  // first along columns
  parallel_for((width + kColumns - 1) / kColumns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end && !should_stop(); ++k)
      scan_columns(picture, k * kColumns, std::min((k + 1) * kColumns, width), distances);
  });
  const FilterLoops& loops = filter_loops();
  parallel_for(height, kRowsOfAThread, [&](int64_t begin, int64_t end) {
    RowSpace space(width);
    for (int64_t y = begin; y < end && !should_stop(); ++y)
      finish_row(metric, loops, distances + y * width, width, space);
  });
}

}  // namespace iruka::cpu_backend
