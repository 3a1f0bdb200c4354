// Searches in sorted arrays, and interpolation between sorted points.
#include "iruka/searching.h"

#include <cmath>

#include "core/device.h"
#include "core/once.h"
#include "core/service.h"
#include "iruka/indexing.h"
#include "iruka/ops.h"
#include "iruka/sorting.h"
#include "ops/checks.h"
#include "ops/count/histogram.h"
#include "ops/functions.h"
#include "ops/sort/order_text.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

const ElementwiseKernel& plain_search() {
  return made_once([] {
    return ElementwiseKernel("raw const T a, T v, I n, bool from_right", "int64 y",
                             "y = searchsorted(a, v, n, from_right);", "searchsorted",
                             {.preamble = order_text("searchsorted")});
  });
}
const ElementwiseKernel& ordered_search() {
  return made_once([] {
    return ElementwiseKernel("raw const T a, T v, I n, bool from_right, raw const int64 order",
                             "int64 y, raw bool is_bad", "y = searchsorted(a, v, n, from_right, order, is_bad);",
                             "searchsorted", {.preamble = order_text("searchsorted")});
  });
}

const ElementwiseKernel& interp_kernel() {
  return made_once([] {
    return ElementwiseKernel(
        "float64 x, raw const float64 xp, raw const V fp, I n, V left, V right, bool has_left, bool has_right", "V y",
        "y = interpolate<V>(x, xp, fp, n, left, right, has_left, has_right);", "interp",
        {.preamble = order_text("interp"), .options = {"--fmad=false"}});
  });
}

void check_real(const std::string& refusal, const Array& x) {
  if (is_complex(x.dtype())) throw TypeError(refusal);
}

/// Whether the dtype has the literal's value, so that the sorted array need not be cast.
bool holds(Dtype dtype, const Scalar& value) {
  if (!value.weak() || value.kind() == Kind::complex) return false;
  if (is_integer(dtype)) return value.kind() != Kind::floating && value.fits(dtype);
  if (kind(dtype) != Kind::floating || dtype == Dtype::bfloat16) return false;
  const Scalar element = value.as_element(dtype);
  if (value.kind() != Kind::floating) return value.fits(Dtype::int32) && element.as_int64() == value.as_int64();
  return element.as_double() == value.as_double();
}

Array checked_order(const Array& order, const Array& sorted) {
  if (!is_integer(order.dtype())) throw TypeError("sorter must only contain integers");
  if (order.dtype() == Dtype::uint64) throw ValueError("sorter must not contain uint64, which int64 does not hold");
  if (!(order.shape() == sorted.shape())) throw ValueError("sorter.size must equal a.size");
  return order.astype(Dtype::int64, false);
}

Scalar length_of(const Array& x) {
  return Scalar(x.size()).typed(x.size() < int64_t{1} << 31 ? Dtype::int32 : Dtype::int64);
}

/// Whether bins ascend or else descend. The first two different ones decide; NaN counts as greater than every number.
bool ascends(const Array& bins) {
  const Array later = cut(bins, 0, std::min<int64_t>(1, bins.size()), bins.size());
  const Array earlier = cut(bins, 0, 0, std::max<int64_t>(bins.size() - 1, 0));
  if (all(greater_equal(later, earlier)).item().as_bool()) return true;
  const Array first = cut(bins, 0, 0, 1), unlike = flatnonzero(not_equal(bins, first));
  const int64_t k = unlike.size() > 0 ? unlike.at(0).item().as_int64() : 0;
  const bool up = unlike.size() == 0 || less(first, cut(bins, 0, k, k + 1)).at(0).item().as_bool();
  if (any((up ? less : greater)(later, earlier)).item().as_bool())
    throw ValueError("bins must be monotonically increasing or decreasing");
  return up;
}

Array digitize_host(const Array& x, const Array& bins, bool right) {
  const SearchSide side = right ? SearchSide::left : SearchSide::right;
  if (ascends(bins)) return searchsorted(bins, x, side);
  return subtract(bins.size(), searchsorted(reversed(bins, 0), x, side));
}

/// The device itself checks whether bins ascend, so that nothing waits for it.
Array digitize_device(const Array& x, const Array& bins, bool right) {
  if (x.size() == 0) return digitize_host(x, bins, right);
  const Argument both[] = {bins, x};
  const Dtype dtype = result_type(both);
  return digitize_gpu(x.astype(dtype, false), bins.astype(dtype, false), bins, right);
}

struct Digitizing {
  static constinit const Implementations<const Digitizing> implementations;
  Array (*digitize)(const Array& x, const Array& bins, bool right);
};
constexpr Digitizing kCpu{digitize_host}, kCuda{digitize_device};
const Implementations<const Digitizing> Digitizing::implementations{"digitizing", {&kCpu, &kCuda}};

/// One period of points in order, with a point of the neighbouring periods at each end.
struct Period {
  Period(const Array& points, const Array& given, double period) {
    const Array within = remainder(points, period), order = argsort(within);
    const Array sorted = take(within, order, 0), values = take(given, order, 0);
    const int64_t n = sorted.size();
    const Array all[] = {subtract(cut(sorted, 0, n - 1, n), period), sorted, add(cut(sorted, 0, 0, 1), period)};
    const Array around[] = {cut(values, 0, n - 1, n), values, cut(values, 0, 0, 1)};
    xp = concatenate(all);
    fp = concatenate(around);
  }

  Array xp, fp;
};

}  // namespace

Array searchsorted(const Array& sorted, const Argument& sought, SearchSide side, const Array* order) {
  check_one_axis(sorted);
  const bool is_held = !sought.is_array() && holds(sorted.dtype(), sought.scalar());
  const Dtype own = sought.is_array() ? sought.array().dtype() : sought.scalar().dtype();
  const Dtype dtype = is_held ? sorted.dtype() : promote(sorted.dtype(), own);
  const Array a = sorted.astype(dtype, false);
  Array v, result;
  if (sought.is_array()) {
    v = sought.array().astype(dtype, false);
    result = Array::empty(v.shape(), Dtype::int64, a.device());
  } else {
    result = Array::empty({}, Dtype::int64, a.device());
  }
  if (result.size() == 0) return result;
  const Argument value = sought.is_array() ? Argument(v) : Argument(sought.scalar().as_element(dtype));
  const Scalar from_right = Scalar(side == SearchSide::right).typed(Dtype::bool_);
  if (!order) {
    plain_search()(a, value, length_of(a), from_right, result);
    return result;
  }
  Array is_bad = Array::empty({1}, Dtype::bool_, a.device());
  is_bad.fill(false);
  ordered_search()(a, value, length_of(a), from_right, checked_order(*order, sorted), result, is_bad);
  if (is_bad.item().as_bool()) throw ValueError("Sorter index out of range.");
  return result;
}

Array digitize(const Array& x, const Array& bins, bool right) {
  check_real("x may not be complex", x);
  check_real("bins may not be complex", bins);
  check_one_axis(bins);
  return bins.device().service<Digitizing>().digitize(x, bins, right);
}

Array interp(const Array& x, const Array& xp, const Array& fp, const InterpOptions& options) {
  check_real(std::string("interp: x must be real, not ") + name(x.dtype()), x);
  check_real(std::string("interp: xp must be real, not ") + name(xp.dtype()), xp);
  const Dtype dtype = is_complex(fp.dtype()) ? Dtype::complex128 : Dtype::float64;
  Array at = x.astype(Dtype::float64, false), points = xp.astype(Dtype::float64, false);
  Array values = fp.astype(dtype, false);
  if (points.ndim() != 1 || values.ndim() != 1)
    throw ValueError(options.period ? "Data points must be 1-D sequences" : "object too deep for desired array");
  if (points.size() != values.size()) throw ValueError("fp and xp are not of the same length.");
  if (points.size() == 0) throw ValueError("array of sample points is empty");
  for (const std::optional<Scalar>& outside : {options.left, options.right})
    if (outside && outside->kind() == Kind::complex && dtype == Dtype::float64)
      throw TypeError("interp: left and right must be real where fp is real");
  std::optional<Scalar> left = options.left, right = options.right;
  if (options.period) {
    if (*options.period == 0) throw ValueError("period must be a non-zero value");
    const double period = std::abs(*options.period);
    const Period one(points, values, period);
    at = remainder(at, period);
    points = one.xp, values = one.fp;
    left = right = std::nullopt;
  }
  const auto typed = [](bool flag) { return Scalar(flag).typed(Dtype::bool_); };
  return interp_kernel()(at, points, values, length_of(points), left.value_or(0.0).as_element(dtype),
                         right.value_or(0.0).as_element(dtype), typed(left.has_value()), typed(right.has_value()));
}

}  // namespace iruka
