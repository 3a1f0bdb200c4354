// Everything here follows from shapes and the kind of device, so that results do too.
#include "ops/reduce/reduction_kernel_plan.h"

#include <algorithm>
#include <bit>

#include "ops/reduce/reduction_plan.h"

namespace iruka::ops {
namespace {

/// Of a processor: as many as the longest vectors have, because a vector whose lanes are of two rows gathers.
constexpr int kCpuLanes = 32, kWarp = 32;
/// Elements of a block that stays in a processor's first-level cache while its lanes process it.
constexpr int64_t kCpuBlock = 1 << 14;
/// The length of rows that one loop reduces as fast as lanes do, if there are many rows.
constexpr int64_t kShortLine = 256;
/// So many columns are worth a vector. Fewer have lanes, from this many lines on.
constexpr int64_t kVectorColumns = 8, kFewestLines = 64;
/// Passes of each lane, at least, where vectors are filled without lanes.
constexpr int64_t kLanePasses = 8;
/// Bytes of the values of a strip, which stay in a processor's first-level cache.
constexpr int64_t kStripBytes = 1 << 15;
/// The threads that saturate a GPU's memory, and the fewest elements of a thread.
constexpr int64_t kThreads = 1 << 18, kPerThread = 16;
/// Partial results of one output that one unit of a processor, or one warp, joins.
constexpr int64_t kCpuJoin = 512, kWarpJoin = 1024, kColumnJoin = 64;

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Cuts an extent into blocks of `length`, the last of which takes what is left over.
void cut(int64_t extent, int64_t length, int64_t& blocks, int64_t& block_length) {
  block_length = std::max<int64_t>(1, length);
  blocks = std::max<int64_t>(1, extent / block_length);
}

/// Cuts an extent into about `wanted` blocks of at least `least`.
void cut_into(int64_t extent, int64_t wanted, int64_t least, int64_t& blocks, int64_t& block_length) {
  wanted = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, extent / least));
  cut(extent, extent / wanted, blocks, block_length);
}

int lanes_of_warp(int64_t n) {
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(n / 4, 1, kWarp))));
}

/// Cuts a line into strips of equal width.
void cut_line(ReductionSizes& sizes, int64_t bytes) {
  sizes.strips = ceil_divide(sizes.inner, std::min(kStripWidth, kStripBytes / bytes));
  sizes.width = ceil_divide(sizes.inner, sizes.strips);
}

/// Columns are cut as those of the built-in reductions. A strip goes through its rows in passes.
void cut_columns_cpu(ReductionSizes& sizes, const ReductionWork& work) {
  const int64_t rows = cut_columns(sizes.n * sizes.outer, sizes.inner, sizes.outputs / sizes.inner).rows_per_chunk;
  sizes.blocks = ceil_divide(sizes.n, rows);
  sizes.length = ceil_divide(sizes.n, sizes.blocks);
  sizes.group_length = std::clamp<int64_t>(rows / sizes.n, 1, sizes.outer);
  sizes.groups = ceil_divide(sizes.outer, sizes.group_length);
  if (work.is_flat && sizes.inner <= kLongestPeriod && sizes.outputs == sizes.inner) {
    const int64_t last = sizes.n - (sizes.blocks - 1) * sizes.length;  // each lane has a row in each block
    const int64_t rows_of_lane = kReductionPass * (sizes.inner < kVectorColumns ? 2 : kLanePasses);
    sizes.lanes = std::clamp<int64_t>(last / rows_of_lane, 1, kPeriodicWidth / sizes.inner);
  }
  if (sizes.lanes > 1) {
    sizes.width = sizes.lanes * sizes.inner;
  } else {
    cut_line(sizes, work.bytes);
  }
  const int64_t passes = sizes.group_length * ceil_divide(sizes.length, kReductionPass * sizes.lanes);
  if (passes > 1 || sizes.lanes > 1) sizes.passes = passes;
}

void cut_rows_cpu(ReductionSizes& sizes) {
  sizes.lanes = sizes.n >= kShortLine ? kCpuLanes : 1;
  cut(sizes.n, sizes.lanes > 1 ? kCpuBlock : sizes.n, sizes.blocks, sizes.length);
  const bool is_enough = sizes.lanes == 1 && sizes.outputs >= 1024;
  cut(sizes.outer, is_enough ? sizes.outer : kCpuBlock / sizes.n, sizes.groups, sizes.group_length);
}

void cut_cuda(ReductionSizes& sizes, bool by_columns) {
  if (!by_columns) sizes.lanes = lanes_of_warp(sizes.n);
  const int64_t wanted = kThreads / (sizes.outputs * sizes.lanes);
  cut_into(sizes.outer, wanted, std::max<int64_t>(1, kPerThread * sizes.lanes / sizes.n), sizes.groups,
           sizes.group_length);
  cut_into(sizes.n, wanted / sizes.groups, kPerThread * sizes.lanes, sizes.blocks, sizes.length);
}

ReductionSizes whole_lines(const ReductionWork& work) {
  ReductionSizes sizes;
  sizes.outputs = work.outputs;
  sizes.inner = work.inner;
  sizes.n = sizes.length = work.n;
  sizes.outer = sizes.group_length = work.outer;
  return sizes;
}

ReductionSizes map_cpu(const ReductionWork& work) {
  ReductionSizes sizes = whole_lines(work);
  if (work.n == 0) return sizes;
  work.by_columns ? cut_columns_cpu(sizes, work) : cut_rows_cpu(sizes);
  return sizes;
}

ReductionSizes join_cpu(const ReductionWork& work) {
  ReductionSizes sizes = whole_lines(work);
  if (work.by_columns)
    cut_columns_cpu(sizes, work);
  else if (work.n > kCpuJoin)
    cut(work.n, kCpuJoin, sizes.blocks, sizes.length);
  return sizes;
}

ReductionSizes map_cuda(const ReductionWork& work) {
  ReductionSizes sizes = whole_lines(work);
  sizes.in_warps = true;
  if (work.n > 0) cut_cuda(sizes, work.by_columns);
  return sizes;
}

ReductionSizes join_cuda(const ReductionWork& work) {
  ReductionSizes sizes = whole_lines(work);
  sizes.in_warps = true;
  if (!work.by_columns) sizes.lanes = lanes_of_warp(work.n);
  const int64_t most = work.by_columns ? kColumnJoin : kWarpJoin;
  if (work.n > most) cut(work.n, most, sizes.blocks, sizes.length);
  return sizes;
}

constexpr ReductionPlanning kCpu{map_cpu, join_cpu, kVectorColumns, kFewestLines, true},
    kCuda{map_cuda, join_cuda, 16, INT64_MAX, false};

}  // namespace

const Implementations<const ReductionPlanning> ReductionPlanning::implementations{"ReductionKernel", {&kCpu, &kCuda}};

}  // namespace iruka::ops
