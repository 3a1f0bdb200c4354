// Membership, and sets as sorted arrays.
#include "iruka/ops.h"
#include "iruka/sets.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

/// Both arrays flattened, in the dtype that holds both.
struct FlatPair {
  FlatPair(const Array& x, const Array& y)
      : a(x.ravel().astype(promote(x.dtype(), y.dtype()), false)),
        b(y.ravel().astype(promote(x.dtype(), y.dtype()), false)) {}

  Array a, b;
};

Array selected(const Array& x, const Array& flags) { return take_flat(x, true_indices(flags)); }

Array values_of(const Array& x) { return unique(x).values; }

}  // namespace

UniqueResult unique_along(const Array& x, int64_t named, const UniqueParts& parts, bool equal_nan) {
  const int axis = normalize_axis("unique", named, x.ndim());
  const Array front = with_axis_at(x, axis, 0);
  Dims shape = front.shape();
  const int64_t slices = shape[0];
  shape[0] = 1;
  UniqueResult result = unique_rows(front.reshape({slices, count(shape)}), parts, equal_nan);
  shape[0] = result.values.shape(0);
  result.values = with_axis_at(result.values.reshape(shape), 0, axis);
  return result;
}

Array isin(const Array& elements, const Array& tests, bool invert) {
  const FlatPair pair(elements, tests);
  return isin_sorted(sort(pair.b, 0), pair.a, invert).reshape(elements.shape());
}

Array union1d(const Array& a, const Array& b) {
  const Array both[] = {a.ravel(), b.ravel()};
  return values_of(concatenate(both));
}

Intersection intersect1d(const Array& a, const Array& b, bool indices) {
  const FlatPair pair(a, b);
  const UniqueResult left = unique(pair.a, {.index = indices}), right = unique(pair.b, {.index = indices});
  const Array places = find_sorted(right.values, left.values);
  const Array common = true_indices(ElementwiseFunction("greater_equal")(places, 0));
  Intersection result{take_flat(left.values, common), {}, {}};
  if (!indices) return result;
  result.first = take_flat(left.index, common);
  result.second = take_flat(right.index, take_flat(places, common));
  return result;
}

Array setdiff1d(const Array& a, const Array& b, bool assume_unique) {
  const Array values = assume_unique ? a.ravel() : values_of(a);
  return selected(values, isin(values, b, true));
}

Array setxor1d(const Array& a, const Array& b) {
  const FlatPair pair(a, b);
  const Array left = values_of(pair.a), right = values_of(pair.b);
  const Array only[] = {selected(left, isin_sorted(right, left, true)),
                        selected(right, isin_sorted(left, right, true))};
  return sort(concatenate(only), 0);
}

}  // namespace iruka
