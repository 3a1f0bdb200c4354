// Weighted sums along an axis on the CPU, by loops that are compiled with the library.
#pragma once

#include <cstdint>

#include "iruka/array.h"

namespace iruka::nn {

/// An axis of a dense array (outer, in, inner), of which each element of the result (outer, out, inner) is made of
/// `taps` elements.
struct ResizedAxis {
  int64_t outer, in, out, inner, taps;
  const int64_t* places;  ///< (out, taps)
  const double* weights;  ///< (out, taps); not read for one tap, which is a copy
};

/// Sums have the dtype of x. False where there are no loops: for sums of other dtypes than float32 and float64.
bool resize_by_loops(const ResizedAxis& axis, const Array& x, const Array& result);

}  // namespace iruka::nn
