// An index is moved to the nearest element of its axis.
#pragma once

template <class I> static inline ptrdiff_t iruka_place_of(I index, ptrdiff_t extent, ptrdiff_t, int64_t*) {
  return index < 0 ? 0 : (ptrdiff_t)index < extent ? (ptrdiff_t)index : extent - 1;
}
