// Sets as sorted arrays of distinct elements; unique() is in sorting.h. Two arrays are compared in the dtype that holds
// both.
#pragma once

#include "iruka/array.h"
#include "iruka/sorting.h"

namespace iruka {

/// unique() of the slices along an axis: values are slices in lexicographic order, and inverse has one number a slice.
/// Raises AxisError.
IRUKA_API UniqueResult unique_along(const Array& x, int64_t axis, const UniqueParts& parts = {},
                                    bool equal_nan = false);
/// Whether each element is among the tests, or with `invert` is not: bool, of the elements' shape. NaN is among none.
IRUKA_API Array isin(const Array& elements, const Array& tests, bool invert = false);
/// The distinct elements of both arrays, sorted.
IRUKA_API Array union1d(const Array& a, const Array& b);

/// What intersect1d() gives: common elements, and where each comes first in either flattened array, if requested.
struct Intersection {
  Array values, first, second;
};
/// The distinct elements that both arrays have, sorted.
IRUKA_API Intersection intersect1d(const Array& a, const Array& b, bool indices = false);
/// The distinct elements of the first array that the second lacks, sorted; all of those, in their order, for elements
/// that are known to be distinct.
IRUKA_API Array setdiff1d(const Array& a, const Array& b, bool assume_unique = false);
/// The distinct elements that just one of the arrays has, sorted.
IRUKA_API Array setxor1d(const Array& a, const Array& b);

}  // namespace iruka
