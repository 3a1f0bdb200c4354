// Reductions along the fastest axis. The thread's number contains lane, unit and row, in this order; neighbouring units
// are neighbours in memory.
#pragma once

#include "ops/reduce/kernels/cuda/partials.h"
#include "ops/reduce/kernels/cuda/words.h"

namespace iruka::reduction {

template <class Walk, bool kIsChunked, int kKeptRank, int kReducedRank>
IRUKA_INLINE void reduce_rows(const BlockArguments<kKeptRank, kReducedRank>& a, ptrdiff_t begin, ptrdiff_t end) {
  using Index = typename Walk::Index;
  using Partial = typename Walk::Partial;
  constexpr int kThreads = Walk::kThreads;
  constexpr bool kHasRows = kReducedRank > 0;
  // Untyped, because shared variables may not have constructors.
  __shared__ uint4 memory[(kThreads * sizeof(Partial) + 15) / 16];
  Partial* cells = (Partial*)memory;
  const int thread = threadIdx.x;
  const int lane = thread & ((1 << a.lane_bits) - 1), slot = thread >> a.lane_bits & (a.units - 1);
  const int row_lane = thread >> (a.lane_bits + a.slot_bits), group = kThreads / a.units;
  const Index unit = (Index)begin + (Index)blockIdx.x * (Index)a.units + slot;
  Partial value = Walk::start_partial();
  ptrdiff_t at = a.out_offset;
  if (kIsChunked && a.stage) {
    at = unit;
    if (unit < (Index)end) value = joined<Walk>(a, unit, row_lane, group);
  } else if (unit < (Index)end) {
    const Index chunk = kIsChunked ? unit % (Index)a.chunks : 0, place = kIsChunked ? unit / (Index)a.chunks : unit;
    const char* base = a.x;
    ptrdiff_t from = 0;
    int length = (int)a.extent;
    a.kept.locate(place, base, at);
    if constexpr (kIsChunked) {
      from = (ptrdiff_t)(kHasRows ? chunk % (Index)a.parts : chunk) * a.part_length;
      length = (int)min(a.extent - from, a.part_length);
      base += from * Walk::stride_of(a);
      at += (ptrdiff_t)chunk * a.outputs;
    }
    if constexpr (kHasRows) {
      const ChunkRows<Index, kIsChunked> rows(a, kIsChunked ? chunk / (Index)a.parts : 0);
#pragma unroll 1
      for (Index row = rows.first + row_lane; row < rows.last; row += kThreads >> (a.lane_bits + a.slot_bits)) {
        const char* p = base;
        ptrdiff_t index = from * a.step;
        a.reduced.locate(row, p, index);
        value = Walk::join(value, Walk::walk(p, length, Walk::stride_of(a), lane, 1 << a.lane_bits, index, a.step));
      }
    } else {
      value = Walk::join(value,
                         Walk::walk(base, length, Walk::stride_of(a), lane, 1 << a.lane_bits, from * a.step, a.step));
    }
  }
  if (group > 1) {
    cells[((row_lane << a.lane_bits) + lane) * a.units + slot] = value;
    fold<Walk>(cells, group, a.units);
    value = cells[slot];
  }
  if (unit >= (Index)end || lane != 0 || row_lane != 0) return;
  if (kIsChunked && !a.stage) {
    ((Partial*)a.partial)[at] = value;
    return;
  }
  ((typename Walk::Out*)a.out)[at] = Walk::finish(value, a.count);
}

}  // namespace iruka::reduction
