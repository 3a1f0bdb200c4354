// Contiguous rows of a few elements: as many as fit side by side form one long row, whose accumulators are joined at
// the end.
#pragma once

#include "ops/reduce/kernels/cpu/columns.h"

namespace iruka::reduction {

template <class Strip, bool kIsChunked, int kKeptRank, int kReducedRank>
IRUKA_INLINE void reduce_periodic(const unsigned char* block, ptrdiff_t begin, ptrdiff_t end) {
  using Block = Arguments<kKeptRank, kReducedRank>;
  constexpr ptrdiff_t kSize = sizeof(typename Strip::In);
  constexpr int kPass = Strip::kPass;
  const auto& a = *(const Block*)block;
  if constexpr (kIsChunked) {
    if (a.stage) return join_chunks<Strip>(a, begin, end);
  }
  for (ptrdiff_t unit = begin; unit < end; ++unit) {
    const StripPlace<Strip, kIsChunked, Block> place(a, unit);
    const ptrdiff_t width = place.width, period = Strip::kWidth / width * width;
    const ptrdiff_t all = (place.rows.last - place.rows.first) * width;
    const char* p[kPass] = {place.base + place.rows.first * a.reduced.stride[0]};
    Strip strip;
    strip.start_columns(p[0], period < all ? period : all, period, kSize);
    for (ptrdiff_t n = all, seen = 0; n > 0;) {
      int count = 1;
      for (; count < kPass && n >= (count + 1) * period; ++count) p[count] = p[count - 1] + period * kSize;
      strip.add_rows(p, nullptr, count, seen, n < period ? n : period, kSize);
      seen += count;
      n -= count * period;
      p[0] = p[count - 1] + period * kSize;
    }
    strip.fold_periods(width, period, all);
    place.store(a, strip);
  }
}

}  // namespace iruka::reduction
