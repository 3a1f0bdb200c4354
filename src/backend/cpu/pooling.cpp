#include "backend/cpu/pooling.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backend/cpu/blocks.h"
#include "backend/cpu/window_loops.h"
#include "core/device.h"
#include "core/once.h"
#include "core/parallel.h"
#include "iruka/array.h"

namespace iruka::cpu_backend {
namespace {

/// Pixels of a row that are done at once.
constexpr int64_t kMostColumns = 1024;

/// The taps of a window along an axis that lie inside of the image.
struct Taps {
  int64_t first, end;  ///< of the taps
  int64_t place;       ///< of the first one in the image
  int64_t with_margins;
  int64_t count() const { return end - first; }
};
Taps taps_of(const Pooling& job, size_t axis, int64_t at) {
  const int64_t begin = at * job.stride[axis] - job.before[axis], step = job.dilation[axis], count = job.kernel[axis];
  if (begin >= 0 && begin + (count - 1) * step < job.in[axis]) return {0, count, begin, count};
  const auto before = [&](int64_t place) { return places_before(place, begin, step, count); };
  const int64_t first = before(0), end = before(job.in[axis]);
  return {first, end, begin + first * step, before(job.in[axis] + job.behind[axis]) - before(-job.before[axis])};
}

/// Whether each window sees some element. Those that lie inside of the image do.
bool has_elements(const Pooling& job) {
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t reach = (job.kernel[axis] - 1) * job.dilation[axis];
    const auto begin = [&](int64_t at) { return at * job.stride[axis] - job.before[axis]; };
    for (int64_t at = 0; at < job.out[axis] && begin(at) < 0; ++at)
      if (taps_of(job, axis, at).count() <= 0) return false;
    for (int64_t at = job.out[axis] - 1; at >= 0 && begin(at) + reach >= job.in[axis]; --at)
      if (taps_of(job, axis, at).count() <= 0) return false;
  }
  return true;
}

/// Means over places of other axes are divided by all of them at once.
template <class T>
void find_columns(const Pooling& job, int64_t first, int64_t end, int64_t others, std::vector<PoolColumn<T>>& columns) {
  columns.clear();
  for (int64_t at = first; at < end; ++at) {
    const Taps taps = taps_of(job, 2, at);
    const int64_t counted = others * (job.counts_margins ? taps.with_margins : taps.count());
    columns.push_back({taps.place * job.channels, taps.count(), static_cast<T>(counted)});
  }
}

template <class T>
void pool_rows(const Pooling& job) {
  const WindowLoopsOf<T>& loops = loops_of<T>(window_loops());
  const int64_t line = job.in[2] * job.channels, plane = job.in[1] * line;
  const auto counted = [&](const Taps& taps) { return job.counts_margins ? taps.with_margins : taps.count(); };
  const int64_t parts = divided(job.out[2], kMostColumns);
  const auto pool = [&](int64_t begin, int64_t end) {
    std::vector<PoolColumn<T>> columns;
    std::pair<int64_t, int64_t> known{-1, -1};  // the part and the divisor of `columns`
    for (int64_t unit = begin; unit < end && !should_stop(); ++unit) {
      const int64_t row = unit / parts, part = unit % parts, image = row / (job.out[0] * job.out[1]);
      const Taps planes = taps_of(job, 0, row / job.out[1] % job.out[0]), rows = taps_of(job, 1, row % job.out[1]);
      const std::pair wanted{part, counted(planes) * counted(rows)};
      const int64_t first = part * kMostColumns, last = std::min(first + kMostColumns, job.out[2]);
      if (std::exchange(known, wanted) != wanted) find_columns(job, first, last, wanted.second, columns);
      const auto* const x = static_cast<const T*>(job.x);
      loops.pool({x + (image * job.in[0] + planes.place) * plane + rows.place * line,
                  planes.count(),
                  rows.count(),
                  {job.dilation[0] * plane, job.dilation[1] * line, job.dilation[2] * job.channels},
                  job.channels,
                  last - first,
                  columns.data(),
                  job.is_mean,
                  static_cast<T*>(job.result) + (row * job.out[2] + first) * job.channels});
    }
  };
  ThreadPool::instance().run(job.images * job.out[0] * job.out[1] * parts, 1, pool, {.alone = kAlone});
}

void pool_by_dtype(const Pooling& job) { job.dtype == Dtype::float32 ? pool_rows<float>(job) : pool_rows<double>(job); }

/// Whether the one window is the image, and that larger than a cache.
bool is_of_large_images(const Pooling& job) {
  constexpr int64_t kCacheBytes = 256 << 10;
  for (size_t axis = 0; axis < 3; ++axis) {
    const bool is_whole = job.kernel[axis] == job.in[axis] && job.before[axis] == 0 && job.behind[axis] == 0;
    if (!is_whole || job.out[axis] != 1 || (job.kernel[axis] > 1 && job.dilation[axis] != 1)) return false;
  }
  return job.in[0] * job.in[1] > 1 &&
         job.in[0] * job.in[1] * job.in[2] * job.channels * itemsize(job.dtype) > kCacheBytes;
}

/// The rows of each image, and then what they gave: threads share the rows, and a row lies in a cache while the loops
/// follow its channels.
void pool_large_images(const Pooling& job) {
  const int64_t rows = job.in[0] * job.in[1];
  const Array of_rows = Array::empty({job.images, rows, job.channels}, job.dtype, cpu());
  Pooling first = job, second = job;
  first.kernel = {1, 1, job.in[2]}, first.out = {job.in[0], job.in[1], 1}, first.stride = first.dilation = {1, 1, 1};
  first.result = of_rows.data();
  second.in = second.kernel = {1, 1, rows}, second.stride = second.dilation = {1, 1, 1};
  second.x = of_rows.data();
  pool_by_dtype(first);
  pool_by_dtype(second);
}

class CpuPoolings final : public Poolings {
 public:
  bool pool(const Pooling& job) override {
    const bool is_known = job.dtype == Dtype::float32 || job.dtype == Dtype::float64;
    if (!is_known || !has_elements(job)) return false;
    is_of_large_images(job) ? pool_large_images(job) : pool_by_dtype(job);
    return true;
  }
};

}  // namespace

Poolings& cpu_poolings() {
  return made_once_locked([] { return CpuPoolings(); });
}

}  // namespace iruka::cpu_backend
