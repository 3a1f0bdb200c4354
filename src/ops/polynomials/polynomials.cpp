// Polynomials as vectors of coefficients.
#include "iruka/polynomials.h"

#include <algorithm>

#include "core/once.h"
#include "iruka/calculus.h"
#include "iruka/creation.h"
#include "iruka/indexing.h"
#include "iruka/linalg.h"
#include "iruka/rearranging.h"
#include "iruka/sorting.h"
#include "ops/functions.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

const ElementwiseKernel& horner() {
  return made_once([] {
    return ElementwiseKernel("T x, raw const T p, int64 count", "T y",
                             "T sum = T(0); for (ptrdiff_t k = 0; k < count; ++k) sum = T(sum * x) + p[k]; y = sum",
                             "polyval", {.options = {"--fmad=false"}});
  });
}

Array zeros_near(const Array& x, int64_t length, Dtype dtype) {
  return zeros_like(x, {.dtype = dtype, .shape = Dims{length}});
}

/// The coefficients behind as many zeros as it takes.
Array lengthened(const Array& p, int64_t length) {
  if (p.size() == length) return p;
  const Array both[] = {zeros_near(p, length - p.size(), p.dtype()), p};
  return concatenate(both);
}

Array combined(const ElementwiseFunction& function, const Array& a, const Array& b) {
  const Array x = atleast_1d(a), y = atleast_1d(b);
  const int64_t length = std::max(x.size(), y.size());
  return function(lengthened(x, length), lengthened(y, length));
}

/// Without zeros in front, but of one element at least.
Array trimmed(const Array& given) {
  const Array p = atleast_1d(given);
  if (p.ndim() > 1) throw ValueError("Polynomial must be 1d only.");
  const Array rest = trim_zeros(p, true, false);
  return rest.size() > 0 ? rest : zeros_near(p, 1, p.dtype());
}

/// count, ..., 2, 1 on the array's device.
Array descending(const Array& x, int64_t count) { return arange(count, 0, -1).to_device(x.device()); }

void check_coefficients(const char* function, const Array& p) {
  if (p.ndim() != 1)
    throw TypeError(std::string(function) + ": the coefficients must have one axis, not " + std::to_string(p.ndim()));
}

/// Real numbers where the imaginary parts of all are 0, as of eigenvalues of real matrices in NumPy.
Array real_where_possible(const Array& x) { return any(not_equal(imag(x), 0)).item().as_bool() ? x : real(x).copy(); }

Array eigenvalues(const Array& a) {
  const Array values = linalg::eigvals(a);
  return is_complex(a.dtype()) ? values : real_where_possible(values);
}

/// Whether the conjugates of complex numbers are these numbers, too.
bool are_conjugates(const Array& x) { return all(equal(sort(x), sort(conjugate(x)))).item().as_bool(); }

Array element(const Array& x, int64_t k) { return slice_at(x, 0, k); }

void check_order(const char* what, const char* other, int64_t m) {
  if (m < 0) throw ValueError(std::string("Order of ") + what + " must be positive (see " + other + ")");
}

}  // namespace

Array polyval(const Array& p, const Array& x) {
  if (p.ndim() == 0) throw TypeError("polyval: the coefficients must have an axis");
  if (p.ndim() > 1) {
    Array total = zeros_like(x);
    for (const Array& row : unstack(p)) total = add(multiply(total, x), row);
    return total;
  }
  const Dtype dtype = p.size() > 0 ? promote(p.dtype(), x.dtype()) : x.dtype();
  return horner()(x.astype(dtype, false), p.astype(dtype, false), Scalar(p.size()).typed(Dtype::int64));
}

Array polyadd(const Array& a, const Array& b) { return combined(add, a, b); }
Array polysub(const Array& a, const Array& b) { return combined(subtract, a, b); }

Array polymul(const Array& a, const Array& b) { return convolve(trimmed(a), trimmed(b)); }

PolynomialQuotient polydiv(const Array& dividend, const Array& divisor) {
  const Array u = add(atleast_1d(dividend), 0.0), v = add(atleast_1d(divisor), 0.0);
  const Dtype dtype = promote(u.dtype(), v.dtype());
  const int64_t m = u.size() - 1, n = v.size() - 1;
  const Array scale = divide(1.0, element(v, 0));
  const Array quotient = zeros_near(u, std::max<int64_t>(m - n + 1, 1), dtype);
  Array rest = u.astype(dtype);
  for (int64_t k = 0; k <= m - n; ++k) {
    const Array factor = multiply(scale, element(rest, k)), part = cut(rest, 0, k, k + n + 1);
    element(quotient, k).assign(factor);
    subtract(part, multiply(factor, v), part);
  }
  int64_t first = 0;
  const std::vector<std::complex<double>> values = rest.to_vector<std::complex<double>>();
  while (first < m && std::abs(values[static_cast<size_t>(first)]) <= 1e-8) ++first;
  return {quotient, cut(rest, 0, first, rest.size())};
}

Array polyder(const Array& p, int64_t m) {
  check_order("derivative", "polyint", m);
  check_coefficients("polyder", p);
  Array result = p;
  for (; m > 0; --m) {
    const int64_t degree = std::max<int64_t>(result.size() - 1, 0);
    result = multiply(cut(result, 0, 0, degree), descending(p, degree));
  }
  return result;
}

Array polyint(const Array& p, int64_t m, const Array* given) {
  check_order("integral", "polyder", m);
  check_coefficients("polyint", p);
  Array constants = given ? atleast_1d(*given) : zeros_near(p, m, Dtype::float64);
  if (constants.size() == 1 && m > 1) constants = constants.broadcast_to({m});
  if (constants.size() < m) throw ValueError("k must be a scalar or a rank-1 array of length 1 or >m.");
  Array result = p;
  for (int64_t k = 0; k < m; ++k) {
    const Array both[] = {divide(result, descending(p, result.size())), cut(constants, 0, k, k + 1)};
    result = concatenate(both);
  }
  return result;
}

Array poly(const Array& given) {
  const Array zeros = atleast_1d(given);
  const bool is_square = zeros.ndim() == 2 && zeros.shape(0) == zeros.shape(1) && zeros.size() > 0;
  if (!is_square && zeros.ndim() != 1) throw ValueError("input must be 1d or non-empty square 2d array.");
  const bool is_wide = is_inexact(zeros.dtype()) && zeros.itemsize() >= 4;
  const Array at = is_square ? eigenvalues(zeros) : is_wide ? zeros : zeros.astype(Dtype::float64);
  const int64_t degree = at.size();
  Array result = zeros_near(at, degree + 1, at.dtype());
  element(result, 0).fill(true);
  for (int64_t k = 0; k < degree; ++k) {
    const Array shifted = multiply(cut(result, 0, 0, k + 1), element(at, k)), part = cut(result, 0, 1, k + 2);
    subtract(part, shifted, part);
  }
  return is_complex(at.dtype()) && are_conjugates(at) ? real(result).copy() : result;
}

Array roots(const Array& given) {
  const Array p = atleast_1d(given);
  if (p.ndim() != 1) throw ValueError("Input must be a rank-1 array.");
  const Array places = flatnonzero(p);
  if (places.size() == 0) return zeros_near(p, 0, Dtype::float64);
  const int64_t first = element(places, 0).item().as_int64();
  const int64_t last = element(places, places.size() - 1).item().as_int64();
  Array stripped = cut(p, 0, first, last + 1);
  if (!is_inexact(p.dtype())) stripped = stripped.astype(Dtype::float64);
  const int64_t degree = stripped.size() - 1, at_zero = p.size() - 1 - last;
  Array found = zeros_near(p, 0, Dtype::float64);
  if (degree > 0) {
    Array companion = zeros_like(stripped, {.shape = Dims{degree, degree}});
    if (degree > 1) diagonal(companion, -1).fill(true);
    divide(negative(cut(stripped, 0, 1, degree + 1)), element(stripped, 0), slice_at(companion, 0, 0));
    found = eigenvalues(companion);
  }
  const Array both[] = {found, zeros_near(p, at_zero, found.dtype())};
  return at_zero > 0 ? concatenate(both) : found;
}

}  // namespace iruka
