// Connected components by union-find over runs of foreground pixels: each row is a list of runs, and runs that touch
// one of the row before are joined (after He, Chao and Suzuki, "A run-based two-scan labeling algorithm", 2008).
#include "backend/cpu/regions.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/once.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

constexpr int64_t kRowsOfAThread = 64;

struct Run {
  int32_t begin, end;
};

/// Which of 8 bytes are not zero, as bits.
unsigned bits_of(const uint8_t* from) {
  uint64_t bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  const uint64_t ones = ((((bytes & kLow) + kLow) | bytes) & ~kLow) >> 7;
  return static_cast<unsigned>((ones * 0x0102040810204080) >> 56);
}
/// The same of up to 64 bytes of a row.
uint64_t word_of(const uint8_t* from, int64_t bytes) {
  uint64_t word = 0;
  int64_t k = 0;
  for (; k + 8 <= bytes; k += 8) word |= uint64_t{bits_of(from + k)} << k;
  for (; k < bytes; ++k) word |= uint64_t{from[k] != 0} << k;
  return word;
}

void find_runs(const uint8_t* row, int64_t width, std::vector<Run>& runs) {
  bool is_inside = false;
  for (int64_t first = 0; first < width; first += 64) {
    const int64_t count = std::min<int64_t>(width - first, 64);
    uint64_t word = word_of(row + first, count);
    if (is_inside) word = ~word;
    // The lowest bit that is set is where the current run, or gap, ends.
    while (word) {
      const int place = std::countr_zero(word);
      if (place >= count) break;
      const auto at = static_cast<int32_t>(first + place);
      if (is_inside)
        runs.back().end = at;
      else
        runs.push_back({at, 0});
      is_inside = !is_inside;
      word = place == 63 ? 0 : ~word & (~uint64_t{0} << (place + 1));
    }
  }
  if (is_inside) runs.back().end = static_cast<int32_t>(width);
}

/// The runs of some rows, one after the other, and the sets of those that touch.
struct RunRows {
  std::vector<Run> runs;
  std::vector<int64_t> first;   ///< of each row, and the end
  std::vector<int32_t> parent;  ///< a run of the same set that is not behind it

  int32_t root(int32_t run) {
    while (parent[static_cast<size_t>(run)] != run) {
      auto& above = parent[static_cast<size_t>(run)];
      above = parent[static_cast<size_t>(above)];
      run = above;
    }
    return run;
  }
  void join(int32_t a, int32_t b) {
    a = root(a);
    b = root(b);
    parent[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
  }
  /// Joins the runs of row `y` with those of the row before that touch them.
  void join_row(size_t y, int32_t reach) {
    int64_t above = first[y - 1], below = first[y];
    while (above < first[y] && below < first[y + 1]) {
      const Run& a = runs[static_cast<size_t>(above)];
      const Run& b = runs[static_cast<size_t>(below)];
      if (a.begin < b.end + reach && b.begin < a.end + reach)
        join(static_cast<int32_t>(above), static_cast<int32_t>(below));
      if (a.end < b.end)
        ++above;
      else
        ++below;
    }
  }
};

void add_run(ComponentStatistics& to, int64_t y, const Run& run) {
  const int64_t count = run.end - run.begin;
  if (to.area == 0) {
    to.top = y;
    to.left = run.begin;
  }
  to.area += count;
  to.left = std::min<int64_t>(to.left, run.begin);
  to.right = std::max<int64_t>(to.right, run.end - 1);
  to.bottom = y;
  to.sum_y += y * count;
  to.sum_x += (int64_t{run.begin} + run.end - 1) * count / 2;
}

/// The runs of the row that `runs` leave out.
void add_gaps(ComponentStatistics& to, int64_t y, int64_t width, const Run* runs, int64_t count) {
  int32_t begin = 0;
  for (int64_t k = 0; k <= count; ++k) {
    const int32_t end = k < count ? runs[k].begin : static_cast<int32_t>(width);
    if (begin < end) add_run(to, y, {begin, end});
    if (k < count) begin = runs[k].end;
  }
}

class CpuRegions final : public Regions {
 public:
  void distances(const BinaryPicture& picture, DistanceMetric metric, void* result) override {
    fill_distances(picture, metric, result);
  }
  int64_t label(const BinaryPicture& picture, bool has_diagonals, int32_t* labels,
                std::vector<ComponentStatistics>* statistics) override {
    return label_runs(picture, has_diagonals, labels, statistics);
  }
};

}  // namespace

int64_t label_runs(const BinaryPicture& picture, bool has_diagonals, int32_t* labels,
                   std::vector<ComponentStatistics>* statistics) {
  const int64_t height = picture.height, width = picture.width;
  RunRows rows;
  rows.first.push_back(0);
  for (int64_t y = 0; y < height; ++y) {
    if (y % kRowsOfAThread == 0 && should_stop()) break;
    find_runs(picture.data + y * picture.row_bytes, width, rows.runs);
    for (size_t k = rows.parent.size(); k < rows.runs.size(); ++k) rows.parent.push_back(static_cast<int32_t>(k));
    rows.first.push_back(std::ssize(rows.runs));
    if (y > 0) rows.join_row(static_cast<size_t>(y), has_diagonals ? 1 : 0);
  }
  throw_if_stopped();
  // A set's first run is its root, so that numbers follow the order of the runs.
  std::vector<int32_t> numbers(rows.runs.size());
  int32_t count = 0;
  for (size_t k = 0; k < numbers.size(); ++k) {
    const auto above = static_cast<size_t>(rows.parent[k]);
    numbers[k] = above == k ? ++count : numbers[above];
  }
  parallel_for(height, kRowsOfAThread, [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      int32_t* const to = labels + y * width;
      int64_t done = 0;
      for (int64_t k = rows.first[static_cast<size_t>(y)]; k < rows.first[static_cast<size_t>(y) + 1]; ++k) {
        const Run& run = rows.runs[static_cast<size_t>(k)];
        std::fill(to + done, to + run.begin, 0);
        std::fill(to + run.begin, to + run.end, numbers[static_cast<size_t>(k)]);
        done = run.end;
      }
      std::fill(to + done, to + width, 0);
    }
  });
  if (!statistics) return count;
  statistics->assign(static_cast<size_t>(count) + 1, {});
  for (int64_t y = 0; y < height; ++y) {
    const int64_t first = rows.first[static_cast<size_t>(y)], end = rows.first[static_cast<size_t>(y) + 1];
    add_gaps(statistics->front(), y, width, rows.runs.data() + first, end - first);
    for (int64_t k = first; k < end; ++k)
      add_run((*statistics)[static_cast<size_t>(numbers[static_cast<size_t>(k)])], y,
              rows.runs[static_cast<size_t>(k)]);
  }
  return count;
}

Regions& cpu_regions() {
  return made_once([] { return CpuRegions(); });
}

}  // namespace iruka::cpu_backend
