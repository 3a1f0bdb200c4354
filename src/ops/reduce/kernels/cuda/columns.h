// Reductions that keep the fastest axis: neighbouring threads take neighbouring columns of a strip, each as many as one
// load holds. The thread's number contains column, unit and row, in this order.
#pragma once

#include "ops/reduce/kernels/cuda/partials.h"
#include "ops/reduce/kernels/cuda/words.h"

namespace iruka::reduction {

template <class Columns, int kRows, class Arguments>
inline void take_rows(const Arguments& a, typename Columns::Partial* sums, const char* p, typename Columns::Index row) {
  typename Columns::Word word[kRows];
  ptrdiff_t index[kRows];
#pragma unroll
  for (int u = 0; u < kRows; ++u) {
    const char* q = p;
    index[u] = 0;
    a.reduced.locate((typename Columns::Index)(row + u * a.row_lanes), q, index[u]);
    word[u] = Columns::load(q, 0, 0);
  }
  Columns::template add_rows<kRows>(sums, word, index);
}

template <class Columns, bool kIsPeriodic, bool kIsChunked, int kKeptRank, int kReducedRank>
IRUKA_INLINE void reduce_columns(const BlockArguments<kKeptRank, kReducedRank>& a, ptrdiff_t begin, ptrdiff_t end) {
  using Index = typename Columns::Index;
  using Partial = typename Columns::Partial;
  constexpr int kThreads = Columns::kThreads, kLanes = Columns::kLanes, kLoads = Columns::kLoads;
  // Untyped, because shared variables may not have constructors.
  __shared__ uint4 memory[(kThreads * kLanes * sizeof(Partial) + 15) / 16];
  Partial* cells = (Partial*)memory;
  const int thread = threadIdx.x;
  // At the end, a thread stores `mine` results from cells[cell] on.
  int rows = a.row_lanes, width = a.strip_width * a.units, mine = thread < width, cell = thread;
  ptrdiff_t at, step = 1;
  if (kIsChunked && a.stage) {
    rows = kThreads / a.units, width = a.units;
    const int slot = thread & (width - 1);
    at = begin + (ptrdiff_t)blockIdx.x * width + slot;
    mine = thread < width && at < end;
    if (at < end) cells[thread] = joined<Columns>(a, at, thread >> a.slot_bits, rows);
  } else {
    const int group = thread / a.lanes, own = (thread - group * a.lanes) * kLanes;
    const int row_lane = group / a.units, slot = group - row_lane * a.units;
    Index place = (Index)begin + (Index)blockIdx.x * (Index)a.units + slot, chunk = 0;
    const bool exists = place < (Index)end;
    const ptrdiff_t column = (ptrdiff_t)(place % (Index)a.strips) * a.strip_width;
    place /= (Index)a.strips;
    if constexpr (kIsChunked) {
      chunk = place % (Index)a.chunks;
      place /= (Index)a.chunks;
    }
    const char* p = a.x;
    at = a.out_offset + column * a.step, step = a.step;
    a.kept.locate(place, p, at);
    const ChunkRows<Index, kIsChunked> range(a, chunk);
    p += column * Columns::stride_of(a);
    if constexpr (kIsChunked) at += (ptrdiff_t)chunk * a.outputs;
    if (row_lane < rows) {
      Partial sums[kLanes];
#pragma unroll
      for (int v = 0; v < kLanes; ++v) sums[v] = Columns::start_partial();
      // A strip's width is a multiple of a word's.
      if (exists && (kIsPeriodic || column + own < a.extent)) {
        const char* q = p + own * Columns::stride_of(a);
        Index row = range.first + row_lane;
#pragma unroll 1
        for (; row + (kLoads - 1) * rows < range.last; row += kLoads * rows)
          take_rows<Columns, kLoads>(a, sums, q, row);
#pragma unroll 1
        for (; row < range.last; row += rows) take_rows<Columns, 1>(a, sums, q, row);
      }
#pragma unroll
      for (int v = 0; v < kLanes; ++v) cells[row_lane * width + slot * a.strip_width + own + v] = sums[v];
    }
    if constexpr (kIsPeriodic) {
      // The accumulators of a period repeat along the strip. Elements that do not fill a strip are added to the first
      // ones.
      const int period = (int)a.extent;
      if (range.last == (Index)a.rows) {
        __syncthreads();
        p += a.rows * a.reduced.stride[0];
#pragma unroll 1
        for (int k = thread; k < a.rest; k += kThreads)
          cells[k] = Columns::join(cells[k], Columns::of(Columns::element(p, k, sizeof(typename Columns::In)), 0));
      }
      rows *= width / period, width = period;
      mine = thread < period, at += thread * step;
    } else {
      mine = exists && row_lane == 0 && column + own < a.extent ? kLanes : 0;
      cell = slot * a.strip_width + own, at += own * step;
    }
  }
  fold<Columns>(cells, rows, width);
#pragma unroll 1
  for (int v = 0; v < mine; ++v, at += step) {
    if (kIsChunked && !a.stage)
      ((Partial*)a.partial)[at] = cells[cell + v];
    else
      ((typename Columns::Out*)a.out)[at] = Columns::finish(cells[cell + v], a.count);
  }
}

}  // namespace iruka::reduction
