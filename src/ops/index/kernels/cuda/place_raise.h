// An index out of bounds is recorded as an error and reads element 0, so that no thread leaves the array.
#pragma once

#include "ops/index/kernels/cuda/report.h"

template <class I> static inline ptrdiff_t iruka_place_of(I index, ptrdiff_t extent, ptrdiff_t axis, int64_t* report) {
  const ptrdiff_t place = (ptrdiff_t)index + (index < 0 ? extent : 0);
  if ((size_t)place < (size_t)extent) return place;
  iruka_report(report, iruka_bad_index, index, axis, extent);
  return 0;
}
