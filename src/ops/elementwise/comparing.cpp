// Whether arrays are equal, or nearly so.
#include "iruka/comparing.h"

#include <limits>

#include "ops/functions.h"

namespace iruka {
namespace {

using namespace ops;

bool holds_everywhere(const Array& flags) { return all(flags).item().as_bool(); }

bool may_be_nan(const Array& x) { return is_inexact(x.dtype()); }

bool are_equal(const Array& a, const Array& b, bool equal_nan) {
  const Array same = equal(a, b);
  if (!equal_nan || !may_be_nan(a) || !may_be_nan(b)) return holds_everywhere(same);
  return holds_everywhere(bitwise_or(same, bitwise_and(isnan(a), isnan(b))));
}

}  // namespace

bool allclose(const Argument& a, const Argument& b, const Argument& relative, const Argument& absolute,
              bool equal_nan) {
  const Argument all_of_them[] = {a, b, relative, absolute, equal_nan};
  return holds_everywhere(isclose.call(all_of_them).front());
}

bool array_equal(const Array& a, const Array& b, bool equal_nan) {
  return a.shape() == b.shape() && are_equal(a, b, equal_nan);
}

bool array_equiv(const Array& a, const Array& b) {
  try {
    const Dims* const both[] = {&a.shape(), &b.shape()};
    broadcast_shapes(both);
  } catch (const ShapeError&) {
    return false;
  }
  return are_equal(a, b, false);
}

Array real_if_close(const Array& x, double tolerance) {
  if (!is_complex(x.dtype())) return x;
  const bool is_single = x.dtype() == Dtype::complex64;
  const double precision = is_single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double limit = tolerance > 1 ? precision * tolerance : tolerance;
  return holds_everywhere(less(absolute(imag(x)), limit))
             ? x.view(real_dtype(x.dtype()), x.shape(), x.strides(), x.offset())
             : x;
}

}  // namespace iruka
