// Reductions that keep the fastest axis: a strip of outputs accumulates row by row.
#pragma once

#include "ops/reduce/kernels/cpu/units.h"

namespace iruka::reduction {

/// Where a unit's strip begins, and where its results are stored.
template <class Strip, bool kIsChunked, class Arguments>
struct StripPlace {
  const Unit<kIsChunked> own;
  const ptrdiff_t column, stride, width;
  const RowRange<kIsChunked> rows;
  const char* base;
  ptrdiff_t at;

  IRUKA_INLINE StripPlace(const Arguments& a, ptrdiff_t unit)
      : own(a, unit),
        column(own.place % a.strips * Strip::kWidth),
        stride(Strip::stride_of(a)),
        width(a.extent - column < Strip::kWidth ? a.extent - column : Strip::kWidth),
        rows(a, own.chunk),
        base(a.x),
        at(a.out_offset) {
    a.kept.locate(own.place / a.strips, base, at);
    base += column * stride;
    at += column * a.step;
  }
  IRUKA_INLINE void store(const Arguments& a, const Strip& strip) const {
    if constexpr (kIsChunked) {
      auto* to = (typename Strip::Partial*)a.partial + own.chunk * a.outputs + at;
      for (ptrdiff_t j = 0; j < width; ++j) to[j * a.step] = strip.partial(j, a, rows);
    } else {
      auto* to = (typename Strip::Out*)a.out + at;
      for (ptrdiff_t j = 0; j < width; ++j) to[j * a.step] = Strip::finish(strip.partial(j, a, rows), a.count);
    }
  }
};

template <class Strip, bool kIsChunked, int kKeptRank, int kReducedRank>
IRUKA_INLINE void reduce_columns(const unsigned char* block, ptrdiff_t begin, ptrdiff_t end) {
  using Block = Arguments<kKeptRank, kReducedRank>;
  constexpr int kPass = Strip::kPass;
  const auto& a = *(const Block*)block;
  if constexpr (kIsChunked) {
    if (a.stage) return join_chunks<Strip>(a, begin, end);
  }
  for (ptrdiff_t unit = begin; unit < end; ++unit) {
    const StripPlace<Strip, kIsChunked, Block> place(a, unit);
    const ptrdiff_t first = place.rows.first, last = place.rows.last;
    const char* p[kPass] = {place.base};
    ptrdiff_t index[kPass] = {};
    if constexpr (Strip::kHasPivots) a.reduced.locate(first, p[0], index[0]);
    Strip strip;
    strip.start_columns(p[0], place.width, place.width, place.stride);
    for (ptrdiff_t row = first; row < last; row += kPass) {
      const int count = last - row < kPass ? int(last - row) : kPass;
      for (int k = 0; k < count; ++k) {
        p[k] = place.base;
        index[k] = 0;
        a.reduced.locate(row + k, p[k], index[k]);
      }
      strip.add_rows(p, index, count, row - first, place.width, place.stride);
    }
    place.store(a, strip);
  }
}

}  // namespace iruka::reduction
