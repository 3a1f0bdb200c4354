// An index counts modulo the extent of its axis.
#pragma once

template <class I> static inline ptrdiff_t iruka_place_of(I index, ptrdiff_t extent, ptrdiff_t, int64_t*) {
  const ptrdiff_t place = (ptrdiff_t)index % extent;
  return place + (place < 0 ? extent : 0);
}
