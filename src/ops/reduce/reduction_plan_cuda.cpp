#include "ops/reduce/reduction_plan_cuda.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace iruka::ops {
namespace {

// 1. rows: L threads side by side walk a row in loads of 16 bytes, four loads a thread if the row is long enough. L * R
// threads make one output; R > 1 rows at a time only if few outputs would leave threads idle. A block of 256 threads
// takes 256 / (L * R) units.
// 2. short_rows whose size is not a multiple of 16 bytes, or is 16 bytes: a block copies a tile of rows to shared
// memory; then each thread reduces a row.
// 3. columns: L threads side by side keep the columns of a strip, each as many as one load holds; R rows at a time;
// again a block takes 256 / (L * R) units.
// 4. periodic: as columns, with rows made of so many short rows that all threads are side by side.
// If that gives too few blocks, rows are cut into chunks, whose partial results a second launch joins.
constexpr int64_t kEnoughBlocks = 2048, kEnoughThreads = kEnoughBlocks * kBlockThreads / 2;
/// Bytes that a block reads: fewer do not pay for its start, more leave multiprocessors idle at the end.
constexpr int64_t kLeastChunk = 16 << 10, kMostChunk = 128 << 10;
/// The bytes that one block reads as fast as two launches do, and the most that it may read without losing accuracy.
constexpr int64_t kOneLaunch = 64 << 10, kLongestWalk = 1 << 20;
constexpr int64_t kLoadBytes = 16;
/// Longest row of short_rows in bytes.
constexpr int64_t kShortRowBytes = 128;
/// The loads that a thread has in flight.
constexpr int64_t kLoads = 4;

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_divide(a, b) * b; }
int64_t power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}
int bits(int64_t power) { return std::countr_zero(static_cast<uint64_t>(power)); }

/// The largest power of two, up to 16, that divides the address where the walk starts and the strides of some axes.
int64_t alignment(const Array& x, const ReductionPlan& plan, int kept_rank, int reduced_rank) {
  uint64_t all = kLoadBytes | (reinterpret_cast<uint64_t>(x.data()) + static_cast<uint64_t>(plan.offset));
  for (int k = 0; k < kept_rank; ++k) all |= static_cast<uint64_t>(plan.kept[k].stride);
  for (int k = 0; k < reduced_rank; ++k) all |= static_cast<uint64_t>(plan.reduced[k].stride);
  return static_cast<int64_t>(all & (~all + 1));
}

void cut_rows(ReductionPlan& plan, int64_t itemsize) {
  BlockShape& block = plan.block;
  const int64_t items = ceil_divide(plan.inner.extent, block.vector_bytes ? block.vector_bytes / itemsize : 1);
  const int64_t lanes = std::min<int64_t>(power_of_two(ceil_divide(items, kLoads)), kBlockThreads);
  int64_t row_lanes = 1;
  while (row_lanes < plan.rows && lanes * row_lanes < kBlockThreads &&
         plan.outputs * lanes * row_lanes < kEnoughThreads)
    row_lanes *= 2;
  const int64_t units = kBlockThreads / (lanes * row_lanes), bytes = plan.length * itemsize;
  block.lane_bits = bits(lanes), block.slot_bits = bits(units), block.units = static_cast<int>(units);
  plan.rows_per_chunk = plan.rows;
  plan.part_length = plan.inner.extent;
  const bool has_enough_blocks = plan.outputs / units >= kEnoughBlocks;
  if (bytes > (has_enough_blocks ? kLongestWalk : kOneLaunch)) {
    const int64_t share = std::clamp(plan.outputs * bytes / kEnoughBlocks, kLeastChunk, kMostChunk);
    const int64_t chunk = round_up(ceil_divide(share, itemsize), kLoadBytes);
    plan.rows_per_chunk = std::min(plan.rows, round_up(std::max<int64_t>(1, chunk / plan.inner.extent), row_lanes));
    plan.part_length = std::min(chunk, plan.inner.extent);
    plan.parts = ceil_divide(plan.inner.extent, plan.part_length);
    plan.chunks = ceil_divide(plan.rows, plan.rows_per_chunk) * plan.parts;
  }
  plan.units = plan.outputs * plan.chunks;
}

void cut_short_rows(ReductionPlan& plan, int64_t itemsize) {
  plan.block.units = static_cast<int>(std::min<int64_t>(1024, kTileBytes / (plan.inner.extent * itemsize)) & ~15);
  plan.units = plan.outputs;
}

/// Makes one row of as many short ones as needed to keep the threads of a block busy.
void widen_rows(ReductionPlan& plan, int64_t elements_per_load) {
  BlockShape& block = plan.block;
  const int64_t period = plan.inner.extent, step = std::lcm(period, elements_per_load);
  const int64_t width = kBlockThreads * elements_per_load / step * step, joined = width / period;
  block.strip_width = static_cast<int>(width);
  block.lanes = static_cast<int>(width / elements_per_load);
  block.rest = static_cast<int>(plan.rows % joined * period);
  plan.rows /= joined;
  plan.reduced[0].extent = plan.rows;
  plan.reduced[0].stride *= joined;
}

/// More lanes if there are few rows to process in parallel.
int64_t most_lanes(int64_t rows) {
  return rows < 16 ? kBlockThreads : rows < 64 ? kBlockThreads / 2 : kBlockThreads / 4;
}

void cut_columns(ReductionPlan& plan, int64_t itemsize) {
  BlockShape& block = plan.block;
  const int64_t elements_per_load = block.vector_bytes ? block.vector_bytes / itemsize : 1;
  const int64_t strips_of = plan.outputs / plan.inner.extent;
  if (plan.form == ReductionForm::periodic) {
    widen_rows(plan, elements_per_load);
  } else {
    const int64_t items = ceil_divide(plan.inner.extent, elements_per_load);
    plan.strips = ceil_divide(items, most_lanes(plan.rows));
    block.lanes = static_cast<int>(ceil_divide(items, plan.strips));
    block.strip_width = static_cast<int>(block.lanes * elements_per_load);
  }
  block.row_lanes =
      static_cast<int>(std::clamp<int64_t>(ceil_divide(plan.rows, kLoads), 1, kBlockThreads / block.lanes));
  if (plan.form == ReductionForm::columns) block.units = kBlockThreads / (block.lanes * block.row_lanes);
  const int64_t row_bytes = block.strip_width * itemsize, blocks = strips_of * plan.strips;
  plan.rows_per_chunk = plan.rows;
  if (plan.rows * row_bytes > (blocks < kEnoughBlocks ? kOneLaunch : int64_t{1} << 30)) {
    const int64_t share = std::clamp(blocks * plan.rows * row_bytes / (2 * kEnoughBlocks), kLeastChunk, 2 * kMostChunk);
    plan.rows_per_chunk = round_up(ceil_divide(share, row_bytes), kLoads * block.row_lanes);
    plan.chunks = ceil_divide(plan.rows, plan.rows_per_chunk);
  }
  plan.units = blocks * plan.chunks;
}

}  // namespace

ReductionPlan plan_reduction_cuda(const Array& x, std::span<const bool> reduced, bool keeps_index,
                                  int64_t partial_bytes) {
  const int64_t itemsize = x.itemsize();
  const WalkRules rules{kShortRowBytes / itemsize, kLongestPeriod, false};
  ReductionPlan plan = plan_walk(x, reduced, keeps_index, rules);
  BlockShape& block = plan.block;
  const bool is_dense = plan.inner.stride == itemsize;
  plan.spacing = is_dense;
  // Periods become rows of whole loads.
  const bool is_periodic = plan.form == ReductionForm::periodic;
  int64_t aligned = alignment(x, plan, plan.kept_rank, is_periodic ? 0 : plan.reduced_rank);
  if (plan.form == ReductionForm::short_rows) {
    // Rows of whole loads need no tile, but a single load is too little work for a thread.
    if (aligned == kLoadBytes && (plan.inner.extent * itemsize > kLoadBytes || itemsize == 1))
      plan.form = ReductionForm::rows;
    else
      aligned = alignment(x, plan, 0, 0);
  }
  if (plan.form == ReductionForm::rows) {
    block.vector_bytes = is_dense && aligned >= std::min(itemsize, kLoadBytes) ? kLoadBytes : 0;
    cut_rows(plan, itemsize);
  } else {
    // A thread holds at most 128 bytes of accumulators: 16 of 8 bytes, 8 values with their index, or 4 moments.
    const int64_t most = std::min(kLoadBytes, 128 / partial_bytes * itemsize);
    int64_t bytes = std::min(aligned, most);
    // Strips are whole loads wide.
    if (plan.form == ReductionForm::columns)
      bytes = std::min(bytes, plan.inner.extent * itemsize & -(plan.inner.extent * itemsize));
    if (plan.form == ReductionForm::short_rows) bytes = aligned;
    block.vector_bytes = is_dense && bytes > itemsize ? static_cast<int>(bytes) : 0;
    plan.form == ReductionForm::short_rows ? cut_short_rows(plan, itemsize) : cut_columns(plan, itemsize);
  }
  const int64_t join_lanes = std::min<int64_t>(power_of_two(ceil_divide(plan.chunks, kLoads)), kBlockThreads);
  block.join_outputs = static_cast<int>(kBlockThreads / join_lanes);
  block.is_wide = std::max({plan.units, plan.rows, plan.outputs * plan.chunks, plan.inner.extent}) > INT32_MAX / 2;
  return plan;
}

}  // namespace iruka::ops
