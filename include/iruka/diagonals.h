// Matrices made of diagonals, and diagonals filled and summed; views of them are in indexing.h.
#pragma once

#include <optional>

#include "iruka/array.h"

namespace iruka {

/// A copy of the k-th diagonal of a matrix, or the matrix whose k-th diagonal is a vector. Raises ValueError for other
/// ranks.
IRUKA_API Array diag(const Array& x, int64_t k = 0);
/// The matrix whose k-th diagonal holds the elements of x in C order.
IRUKA_API Array diagflat(const Array& x, int64_t k = 0);
/// Sets x[i, i, ..., i]; values repeat as needed. With `wrap`, the diagonal of a tall matrix starts again after one
/// empty row. Raises ValueError for fewer than two axes, and for unequal extents of more than two.
IRUKA_API void fill_diagonal(const Array& x, const Array& values, bool wrap = false);
/// The sum along a diagonal of two axes. Raises AxisError, and ValueError for fewer than two axes or one axis named
/// twice.
IRUKA_API Array trace(const Array& x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1,
                      std::optional<Dtype> dtype = {});

}  // namespace iruka
