// Differences, slopes and integrals along an axis.
#include <algorithm>
#include <cmath>
#include <complex>

#include "core/once.h"
#include "iruka/calculus.h"
#include "iruka/creation.h"
#include "iruka/statistics.h"
#include "ops/checks.h"
#include "ops/elementwise/cast_text.h"
#include "ops/functions.h"
#include "ops/listener.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

Array as_float(const Array& x) { return is_inexact(x.dtype()) ? x : x.astype(Dtype::float64); }

/// All elements of an axis but the first, and all but the last.
Array later(const Array& x, int axis) { return cut(x, axis, std::min<int64_t>(1, x.shape(axis)), x.shape(axis)); }
Array earlier(const Array& x, int axis) { return cut(x, axis, 0, std::max<int64_t>(x.shape(axis) - 1, 0)); }

/// x[..., begin:end] of the last axis; negative bounds count from the end.
Array of_last(const Array& x, int64_t begin, int64_t end) {
  const int axis = x.ndim() - 1;
  const int64_t extent = x.shape(axis);
  const int64_t first = begin < 0 ? extent + begin : begin, last = end <= 0 ? extent + end : end;
  return cut(x, axis, first, std::max(first, last));
}

/// x with `prepend` before and `append` behind it.
Array extended(const Array& x, int axis, const Array* prepend, const Array* append) {
  if (!prepend && !append) return x;
  Dims one = x.shape();
  one[axis] = 1;
  std::vector<Array> parts;
  for (const Array* part : {prepend, &x, append})
    if (part) parts.push_back(part->ndim() == 0 ? part->broadcast_to(one) : *part);
  return concatenate(parts, axis);
}

/// A number of the same dtype as `model`, or a literal where `model` is one.
Scalar like(const Scalar& model, const Scalar& value) { return model.weak() ? value : value.as_element(model.dtype()); }

/// A result computed from `number`, as NumPy's scalars and literals give it: integers give float64.
Scalar computed_from(const Scalar& number, const Scalar& result) {
  if (number.weak()) return result;
  return result.as_element(is_inexact(number.dtype()) ? number.dtype() : Dtype::float64);
}

Scalar scaled(const Scalar& number, double factor) {
  if (number.kind() == Kind::complex) return computed_from(number, number.as_complex() * factor);
  return computed_from(number, number.as_double() * factor);
}

Scalar inverse(const Scalar& number, double factor) {
  if (number.kind() == Kind::complex) return computed_from(number, factor / number.as_complex());
  return computed_from(number, factor / number.as_double());
}

const ElementwiseKernel& slope_kernel() {
  return made_once(
      [] { return ElementwiseKernel("T after, T before, T step", "T z", "z = (after - before) / step;", "gradient"); });
}

void slope(const Array& after, const Array& before, const Scalar& step, const Array& result) {
  slope_kernel()(after, before, step, result);
}

/// What lies between neighbours along one axis of gradient().
struct Steps {
  Scalar number;  ///< where all steps are equal
  Array each;     ///< else the steps; an invalid array where all are equal
};

Steps steps_of(const Spacing& spacing, int64_t extent) {
  if (const Scalar* number = std::get_if<Scalar>(&spacing)) return {*number, {}};
  const Array& given = std::get<Array>(spacing);
  if (given.ndim() != 1) throw ValueError("distances must be either scalars or 1d");
  if (given.size() != extent)
    throw ValueError("when 1d, distances must match the length of the corresponding dimension");
  const Array steps = diff(is_integer(given.dtype()) ? given.astype(Dtype::float64) : given);
  const Scalar first = steps.at(0).item();
  if (!all(equal(steps, steps.at(0))).item().as_bool()) return {0.0, steps};
  return {first.kind() == Kind::complex ? Scalar(first.as_complex()) : Scalar(first.as_double()), {}};
}

std::vector<Steps> steps_along(const Array& f, std::span<const Spacing> spacings, const Dims& axes) {
  if (spacings.empty()) return std::vector<Steps>(static_cast<size_t>(axes.size()), {1.0, {}});
  if (spacings.size() == 1 && std::holds_alternative<Scalar>(spacings[0]))
    return std::vector<Steps>(static_cast<size_t>(axes.size()), {std::get<Scalar>(spacings[0]), {}});
  if (static_cast<int>(spacings.size()) != axes.size()) throw TypeError("invalid number of arguments");
  std::vector<Steps> steps;
  steps.reserve(spacings.size());
  for (int k = 0; k < axes.size(); ++k)
    steps.push_back(steps_of(spacings[static_cast<size_t>(k)], f.shape(static_cast<int>(axes[k]))));
  return steps;
}

/// a x + b y + c z.
template <class Factor>
Array combined(const Factor& a, const Array& x, const Factor& b, const Array& y, const Factor& c, const Array& z) {
  return add(add(multiply(a, x), multiply(b, y)), multiply(c, z));
}

void second_order_ends(const Array& out, const Array& y, const Steps& steps) {
  Array first = of_last(out, 0, 1), last = of_last(out, -1, 0);
  const Array begin[] = {of_last(y, 0, 1), of_last(y, 1, 2), of_last(y, 2, 3)};
  const Array end[] = {of_last(y, -3, -2), of_last(y, -2, -1), of_last(y, -1, 0)};
  if (!steps.each.valid()) {
    const auto over = [&](double factor) { return inverse(steps.number, factor); };
    first.assign(combined(over(-1.5), begin[0], over(2), begin[1], over(-0.5), begin[2]));
    last.assign(combined(over(0.5), end[0], over(-2), end[1], over(1.5), end[2]));
    return;
  }
  const std::vector<double> h = steps.each.to_vector<double>();
  double p = h[0], q = h[1];
  first.assign(combined(Scalar(-(2 * p + q) / (p * (p + q))), begin[0], Scalar((p + q) / (p * q)), begin[1],
                        Scalar(-(p / (q * (p + q)))), begin[2]));
  p = h[h.size() - 2], q = h.back();
  last.assign(combined(Scalar(q / (p * (p + q))), end[0], Scalar(-((p + q) / (p * q))), end[1],
                       Scalar((2 * q + p) / (q * (p + q))), end[2]));
}

void first_order_ends(const Array& out, const Array& y, const Steps& steps) {
  const int axis = y.ndim() - 1;
  const int64_t length = y.shape(axis);
  if (!steps.each.valid() && length > 2) {  // both ends in one call
    slope(cut(y, axis, 1, length, length - 2), cut(y, axis, 0, length - 1, length - 2), steps.number,
          cut(out, axis, 0, length, length - 1));
    return;
  }
  const bool is_even = !steps.each.valid();
  const auto number = [](const Array& x) -> Scalar { return x.item().as_double(); };
  slope(of_last(y, 1, 2), of_last(y, 0, 1), is_even ? steps.number : number(steps.each.at(0)), of_last(out, 0, 1));
  slope(of_last(y, -1, 0), of_last(y, -2, -1), is_even ? steps.number : number(steps.each.at(-1)), of_last(out, -1, 0));
}

Array gradient_along(const Array& f, int axis, const Steps& steps, int edge_order) {
  const Array result = empty_like(f, {.dtype = is_inexact(f.dtype()) ? f.dtype() : Dtype::float64});
  const Array y = with_axis_at(as_float(f), axis, f.ndim() - 1), out = with_axis_at(result, axis, f.ndim() - 1);
  const Array before = of_last(y, 0, -2), at = of_last(y, 1, -1), after = of_last(y, 2, 0);
  if (steps.each.valid()) {
    const Array left = of_last(steps.each, 0, -1), right = of_last(steps.each, 1, 0), both = add(left, right);
    of_last(out, 1, -1)
        .assign(combined(divide(negative(right), multiply(left, both)), before,
                         divide(subtract(right, left), multiply(left, right)), at, divide(left, multiply(right, both)),
                         after));
  } else {
    slope(after, before, scaled(steps.number, 2), of_last(out, 1, -1));
  }
  (edge_order == 1 ? first_order_ends : second_order_ends)(out, y, steps);
  return result;
}

/// The dtype of an integral, and y in one in which sums do not overflow.
struct Integrand {
  Integrand(const Array& given, const Argument& distance) {
    const Argument all[] = {given, distance, 0.0};
    dtype = result_type(all);
    y = given.astype(is_half(dtype) ? Dtype::float32 : dtype, false);
  }

  Dtype dtype = Dtype::float64;
  Array y;
};

Array integral_of_intervals(const Integrand& integrand, const Argument& widths, int axis) {
  const Array middles = add(divide(later(integrand.y, axis), 2.0), divide(earlier(integrand.y, axis), 2.0));
  return cast(sum(multiply(widths, middles), Dims{axis}), integrand.dtype);
}

}  // namespace

Array diff(const Array& x, int64_t times, int64_t axis, const Array* prepend, const Array* append) {
  if (times < 0) throw ValueError("order must be non-negative but got " + std::to_string(times));
  if (x.ndim() == 0) throw ValueError("diff requires input that is at least one dimensional");
  const int along = normalize_axis("diff", axis, x.ndim());
  Array result = extended(x, along, prepend, append);
  const ElementwiseFunction& step = result.dtype() == Dtype::bool_ ? not_equal : subtract;
  for (int64_t k = 0; k < times; ++k) {
    if (k > 0 && result.shape(along) == 0) break;
    result = step(later(result, along), earlier(result, along));
  }
  return result;
}

Array ediff1d(const Array& given, const Array* to_end, const Array* to_begin) {
  const Array x = given.ravel(), steps = subtract(later(x, 0), earlier(x, 0));
  const auto end = [&](const char* what, const Array& values) {
    if (!can_cast_same_kind(values.dtype(), x.dtype()))
      throw TypeError(std::string("dtype of `") + what +
                      "` must be compatible with input `ary` under the `same_kind` rule.");
    return values.ravel().astype(x.dtype(), false);
  };
  std::vector<Array> parts{steps};
  if (to_end) parts.push_back(end("to_end", *to_end));
  if (to_begin) parts.insert(parts.begin(), end("to_begin", *to_begin));
  return parts.size() == 1 ? steps : concatenate(parts, 0);
}

Array unwrap(const Array& x, const std::optional<Scalar>& jump, int64_t axis, const Scalar& period) {
  const Array step = diff(x, 1, axis);
  const int along = normalize_axis("unwrap", axis, x.ndim());
  const Argument both[] = {step, period};
  const Dtype dtype = result_type(both);
  Scalar high = like(period, period.as_double() / 2), low = like(period, -period.as_double() / 2);
  bool keeps_sign = true;  // of half a period
  if (is_integer(dtype)) {
    const int64_t whole = period.as_int64(), half = whole >> 1;
    high = like(period, half), low = like(period, -half);
    keeps_sign = whole % 2 == 0;
  }
  Array near = add(remainder(subtract(step, low), period), low);
  if (keeps_sign) near = where(logical_and(equal(near, low), greater(step, 0)), high, near);
  const Array is_small = less(absolute(step), jump.value_or(period.as_double() / 2));
  const Array correction = where(is_small, 0, subtract(near, step));
  const Array result = x.astype(dtype);
  later(result, along).assign(add(later(x, along), scan(correction, ScanOperation::add, along)));
  return result;
}

std::vector<Array> gradient(const Array& f, std::span<const Spacing> spacings, const std::optional<Dims>& named,
                            int edge_order) {
  const Dims axes = axes_or_all("gradient", named, f.ndim());
  const std::vector<Steps> steps = steps_along(f, spacings, axes);
  if (edge_order > 2) throw ValueError("'edge_order' greater than 2 not supported");
  std::vector<Array> results;
  for (int k = 0; k < axes.size(); ++k) {
    const int axis = static_cast<int>(axes[k]);
    if (f.shape(axis) < edge_order + 1)
      throw ValueError(
          "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
          "required.");
    if (f.dtype() == Dtype::bool_) throw TypeError("gradient: booleans have no differences");
    results.push_back(gradient_along(f, axis, steps[static_cast<size_t>(k)], edge_order));
  }
  return results;
}

Array trapezoid(const Array& given, int64_t named, const Argument& distance) {
  const int axis = normalize_axis("trapezoid", named, given.ndim());
  const Integrand integrand(given, distance);
  const Array& y = integrand.y;
  const int64_t extent = y.shape(axis);
  if ((distance.is_array() && distance.array().ndim() > 0) || extent < 2)
    return integral_of_intervals(integrand, distance, axis);
  const Array ends = add(divide(slice_at(y, axis, 0), 2.0), divide(slice_at(y, axis, extent - 1), 2.0));
  const Array inside = sum(cut(y, axis, 1, extent - 1), Dims{axis});
  return cast(multiply(distance, add(inside, ends)), integrand.dtype);
}

Array trapezoid(const Array& y, const Array& given, int64_t named) {
  const int axis = normalize_axis("trapezoid", named, y.ndim());
  if (given.ndim() == 0) throw ValueError("trapezoid: x must have at least one axis");
  const Integrand integrand(y, given);
  const Array x = as_float(given), widths = diff(x, 1, x.ndim() == 1 ? 0 : axis);
  return integral_of_intervals(
      integrand, x.ndim() == 1 ? widths.reshape(along_axis(y.ndim(), axis, widths.size())) : widths, axis);
}

}  // namespace iruka
