// Reductions along the fastest axis: a unit is an output, or a chunk of one.
#pragma once

#include "ops/reduce/kernels/cpu/units.h"

namespace iruka::reduction {

template <class Accumulator, bool kIsChunked, int kKeptRank, int kReducedRank>
IRUKA_INLINE void reduce_rows(const unsigned char* block, ptrdiff_t begin, ptrdiff_t end) {
  constexpr bool kHasRows = kReducedRank > 0;
  const auto& a = *(const Arguments<kKeptRank, kReducedRank>*)block;
  if constexpr (kIsChunked) {
    if (a.stage) return join_chunks<Accumulator>(a, begin, end);
  }
  for (ptrdiff_t unit = begin; unit < end; ++unit) {
    const Unit<kIsChunked> own(a, unit);
    const ptrdiff_t stride = Accumulator::stride_of(a);
    const char* base = a.x;
    ptrdiff_t at = a.out_offset, from = 0, length = a.extent;
    a.kept.locate(own.place, base, at);
    if constexpr (kIsChunked) {
      from = (kHasRows ? own.chunk % a.parts : own.chunk) * a.part_length;
      length = a.extent - from < a.part_length ? a.extent - from : a.part_length;
      base += from * stride;
    }
    Accumulator accumulator;
    if constexpr (kHasRows) {
      const RowRange<kIsChunked> rows(a, own.chunk / a.parts);
      for (ptrdiff_t row = rows.first; row < rows.last; ++row) {
        const char* p = base;
        ptrdiff_t index = from * a.step;
        a.reduced.locate(row, p, index);
        accumulator.row(p, length, stride, index, a.step);
      }
    } else {
      accumulator.row(base, length, stride, from * a.step, a.step);
    }
    if constexpr (kIsChunked)
      ((typename Accumulator::Partial*)a.partial)[own.chunk * a.outputs + at] = accumulator.result();
    else
      ((typename Accumulator::Out*)a.out)[at] = Accumulator::finish(accumulator.result(), a.count);
  }
}

}  // namespace iruka::reduction
