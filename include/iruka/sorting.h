// Sorting, partial sorting, and sets. The order is NumPy's: NaN last, complex numbers by real part, then imaginary
// part.
#pragma once

#include <optional>
#include <span>

#include "iruka/array.h"

namespace iruka {

struct SortOptions {
  bool stable = false;      ///< equal elements keep their order
  bool descending = false;  ///< the exact reverse order (NaN first); equal elements of a stable sort keep their order
};

/// A sorted copy along `axis`; of the flattened array without one. Same dtype and, with an axis, shape. Raises
/// AxisError.
IRUKA_API Array sort(const Array& x, std::optional<int64_t> axis = -1, const SortOptions& options = {});
/// The int64 indices that sort along `axis`. Always stable.
IRUKA_API Array argsort(const Array& x, std::optional<int64_t> axis = -1, const SortOptions& options = {});
/// Indices that sort by the last of `keys` first, then the one before it... Keys broadcast to one shape.
/// Raises TypeError without keys, ShapeError where shapes differ, AxisError.
IRUKA_API Array lexsort(std::span<const Array> keys, int64_t axis = -1);

/// A copy in which each element at a position in `kth` is the one that sort() would put there, with no larger one
/// before it and no smaller one after it. Negative positions count from the end. Raises ValueError for a position out
/// of bounds, AxisError.
IRUKA_API Array partition(const Array& x, std::span<const int64_t> kth, std::optional<int64_t> axis = -1);
IRUKA_API Array argpartition(const Array& x, std::span<const int64_t> kth, std::optional<int64_t> axis = -1);

/// The arrays that unique() computes besides the values; the others are invalid in its result.
struct UniqueParts {
  bool index = false, inverse = false, counts = false;
};
struct UniqueResult {
  Array values;   ///< sorted, one axis
  Array index;    ///< int64: where each value comes first in the flattened array
  Array inverse;  ///< int64, as many as the array has elements: which value each is
  Array counts;   ///< int64
};
/// The distinct elements of the flattened array. With `equal_nan`, all NaN are one value.
IRUKA_API UniqueResult unique(const Array& x, const UniqueParts& parts = {}, bool equal_nan = true);
/// The same for the rows x[0], x[1]... of an array of two axes: values are rows in lexicographic order.
IRUKA_API UniqueResult unique_rows(const Array& x, const UniqueParts& parts = {}, bool equal_nan = true);

/// The place of each element of `sought` in `sorted` (one axis, ascending): an index with sorted[index] == element,
/// else -1. Both have the same dtype. NaN is never found.
IRUKA_API Array find_sorted(const Array& sorted, const Array& sought);
/// Whether each element of `sought` is in `sorted`, or with `invert` is not: bool.
IRUKA_API Array isin_sorted(const Array& sorted, const Array& sought, bool invert);
/// The indices of the true elements of a bool array of one axis, ascending.
IRUKA_API Array true_indices(const Array& flags);
/// The elements of the flattened array at int64 indices, which are not checked.
IRUKA_API Array take_flat(const Array& x, const Array& indices);

}  // namespace iruka
