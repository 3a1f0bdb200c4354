// Everything here follows from shapes and the kind of device, so that results do too.
#include "ops/reduce/reduction_kernel_plan.h"

#include <algorithm>
#include <bit>

namespace iruka::ops {
namespace {

/// Of a processor: as many as the longest vectors have, because a vector whose lanes are of two rows gathers.
constexpr int kCpuLanes = 32, kWarp = 32;
/// Elements of a block that stays in a processor's first-level cache while its lanes process it.
constexpr int64_t kCpuBlock = 1 << 14;
/// The length of rows that one loop reduces as fast as lanes do, if there are many rows.
constexpr int64_t kShortRow = 256;
/// Lines that one column processes before the next column, whose elements are on the same memory pages.
constexpr int64_t kColumnBlock = 32;
/// Columns that are too few for a vector have lanes, too, from this many lines on.
constexpr int64_t kNarrowLines = 2048;
/// The threads that saturate a GPU's memory, and the fewest elements of a thread.
constexpr int64_t kThreads = 1 << 18, kPerThread = 16;
/// Partial results of one output that one unit of a processor, or one warp, joins.
constexpr int64_t kCpuJoin = 512, kWarpJoin = 1024, kColumnJoin = 64;

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

void cut_cpu(ReductionSizes& sizes, bool by_columns) {
  const bool is_narrow = sizes.inner < kCpuLanes && sizes.outputs == sizes.inner && sizes.outer == 1;
  if (by_columns && is_narrow && sizes.n >= kNarrowLines) {
    sizes.lanes = kCpuLanes;
    cut(sizes.n, std::max(kNarrowLines, 2 * kCpuBlock / sizes.inner), sizes.blocks, sizes.length);
    return;
  }
  if (by_columns) {
    cut(sizes.n, sizes.n > 2 * kColumnBlock ? kColumnBlock : sizes.n, sizes.blocks, sizes.length);
    cut(sizes.outer, kColumnBlock / sizes.n, sizes.groups, sizes.group_length);
    return;
  }
  sizes.lanes = sizes.n >= kShortRow ? kCpuLanes : 1;
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

ReductionSizes whole_lines(int64_t outputs, int64_t inner, int64_t n, int64_t outer) {
  ReductionSizes sizes;
  sizes.outputs = outputs;
  sizes.inner = inner;
  sizes.n = sizes.length = n;
  sizes.outer = sizes.group_length = outer;
  return sizes;
}

ReductionSizes map_cpu(int64_t outputs, int64_t inner, int64_t n, int64_t outer, bool by_columns) {
  ReductionSizes sizes = whole_lines(outputs, inner, n, outer);
  if (n > 0) cut_cpu(sizes, by_columns);
  return sizes;
}

ReductionSizes join_cpu(int64_t outputs, int64_t count, bool by_columns) {
  ReductionSizes sizes = whole_lines(outputs, outputs, count, 1);
  if (count > kCpuJoin) cut(count, by_columns ? kColumnJoin : kCpuJoin, sizes.blocks, sizes.length);
  return sizes;
}

ReductionSizes map_cuda(int64_t outputs, int64_t inner, int64_t n, int64_t outer, bool by_columns) {
  ReductionSizes sizes = whole_lines(outputs, inner, n, outer);
  sizes.in_warps = true;
  if (n > 0) cut_cuda(sizes, by_columns);
  return sizes;
}

ReductionSizes join_cuda(int64_t outputs, int64_t count, bool by_columns) {
  ReductionSizes sizes = whole_lines(outputs, outputs, count, 1);
  sizes.in_warps = true;
  if (!by_columns) sizes.lanes = lanes_of_warp(count);
  const int64_t most = by_columns ? kColumnJoin : kWarpJoin;
  if (count > most) cut(count, most, sizes.blocks, sizes.length);
  return sizes;
}

constexpr ReductionPlanning kCpu{map_cpu, join_cpu, 8, kNarrowLines}, kCuda{map_cuda, join_cuda, 16, INT64_MAX};

}  // namespace

const Implementations<const ReductionPlanning> ReductionPlanning::implementations{"ReductionKernel", {&kCpu, &kCuda}};

}  // namespace iruka::ops
