// Evenly spaced values between arrays, and windows.
#include "iruka/sequences.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "iruka/device.h"
#include "iruka/ops.h"
#include "ops/create/sequences.h"
#include "ops/device_scope.h"
#include "ops/functions.h"
#include "ops/listener.h"
#include "ops/views.h"

namespace iruka {
namespace ops {

Spaced spaced(const Argument& start, const Argument& stop, int64_t count, bool endpoint, Dtype dtype) {
  const Argument ends[] = {stop, start};
  const Array delta = subtract.call(ends, {.dtype = dtype}).front();
  const DeviceScope scope(delta.device());
  const Array places = arange(0, count, 1, dtype).reshape(along_axis(delta.ndim() + 1, 0, count));
  const int64_t parts = endpoint ? count - 1 : count;
  Array values, steps;
  if (parts > 0) {
    steps = divide(delta, parts);
    const Array is_lost = equal(steps, 0);  // a step that underflows to 0 is multiplied last
    values = multiply(where(is_lost, divide(places, parts), places), where(is_lost, delta, steps));
  } else {
    values = multiply(places, delta);
  }
  values = add(values, start);
  if (endpoint && count > 1) {
    Array last = slice_at(values, 0, count - 1);
    if (stop.is_array())
      last.assign(stop.array());
    else
      last.fill(stop.scalar());
  }
  return {values.astype(dtype, false), steps};
}

}  // namespace ops

namespace {

using namespace ops;

Array finished(const Array& values, Dtype dtype, int64_t axis) {
  const Array moved = with_axis_at(values, 0, normalize_axis("linspace", axis, values.ndim()));
  return (is_integer(dtype) ? floor(moved) : moved).astype(dtype, false);
}

/// An argument as an array on a device, with so many axes.
Array with_axes(const Argument& argument, int ndim, Device& device) {
  const DeviceScope scope(device);
  return with_axes_in_front(argument.is_array() ? argument.array() : full({}, argument.scalar()), ndim);
}

int axes_of(const Argument& argument) { return argument.is_array() ? argument.array().ndim() : 0; }

/// The window of values at 1 - points, 3 - points..., which `change` puts in place of them.
template <class Change>
Array window(double points, Change change) {
  if (points < 1) return Array::empty({0}, Dtype::float64);
  if (points == 1) return ones({1});
  const Array n = arange(1 - points, points, 2, Dtype::float64);
  change(n);
  return n;
}

/// n becomes cos(times * pi * n / (points - 1)) * factor.
void make_cosine(const Array& n, double points, double factor, int times = 1) {
  multiply(times * std::numbers::pi, n, n);
  divide(n, points - 1, n);
  cos(n, n);
  multiply(factor, n, n);
}

/// The number that an argument without axes is.
double number_of(const Argument& argument) {
  return (argument.is_array() ? argument.array().item() : argument.scalar()).as_double();
}

}  // namespace

Array linspace(const Argument& start, const Argument& stop, int64_t count, bool endpoint, std::optional<Dtype> dtype,
               int64_t axis) {
  if (count < 0) throw ValueError("linspace: num must not be negative, but is " + std::to_string(count));
  const Argument all[] = {start, stop, 0.0};
  const Dtype computing = result_type(all);
  if (computing == Dtype::float64 && axes_of(start) == 0 && axes_of(stop) == 0) {
    const double first = number_of(start), last = number_of(stop);
    if (std::isfinite(last - first)) {  // no value overflows
      const DeviceScope scope(start.is_array()  ? start.array().device()
                              : stop.is_array() ? stop.array().device()
                                                : default_device());
      return finished(linspace(first, last, count, endpoint), dtype.value_or(computing), axis);
    }
  }
  return finished(spaced(start, stop, count, endpoint, computing).values, dtype.value_or(computing), axis);
}

Array logspace(const Argument& start, const Argument& stop, int64_t count, bool endpoint, const Argument& base,
               std::optional<Dtype> dtype, int64_t axis) {
  Array result;
  if (axes_of(base) > 0) {
    Device& device = base.array().device();
    const int ndim = std::max({axes_of(start), axes_of(stop), axes_of(base)});
    const Array first = with_axes(start, ndim, device), last = with_axes(stop, ndim, device);
    result = power(with_axes(base, ndim, device).expand_dims(axis), linspace(first, last, count, endpoint, {}, axis));
  } else {
    result = power(base, linspace(start, stop, count, endpoint, {}, axis));
  }
  return dtype ? cast(result, *dtype) : result;
}

Array geomspace(const Array& start, const Array& stop, int64_t count, bool endpoint, std::optional<Dtype> dtype,
                int64_t axis) {
  if (any(equal(start, 0)).item().as_bool() || any(equal(stop, 0)).item().as_bool())
    throw ValueError("Geometric sequence cannot include zero");
  const Argument all[] = {start, stop, 0.0};
  const Dtype common = promote(result_type(all), dtype.value_or(Dtype::float64));
  const Array from = start.astype(common, false), to = stop.astype(common, false);
  // In the direction of start, logarithms of negative numbers stay real.
  const Array direction = sign(from), first = divide(from, direction), last = divide(to, direction);
  Array result = logspace(log10(first), log10(last), count, endpoint, 10.0, common);
  if (count > 0) {  // the ends exactly
    Array end = slice_at(result, 0, 0);
    end.assign(first);
    end = slice_at(result, 0, count - 1);
    if (endpoint && count > 1) end.assign(last);
  }
  result = multiply(result, direction);
  result = with_axis_at(result, 0, normalize_axis("geomspace", axis, result.ndim()));
  return dtype ? cast(result, *dtype) : result;
}

Array bartlett(double points) {
  return window(points, [&](const Array& n) {
    absolute(n, n);
    divide(n, points - 1, n);
    subtract(1, n, n);
  });
}

Array hanning(double points) {
  return window(points, [&](const Array& n) {
    make_cosine(n, points, 0.5);
    add(0.5, n, n);
  });
}

Array hamming(double points) {
  return window(points, [&](const Array& n) {
    make_cosine(n, points, 0.46);
    add(0.54, n, n);
  });
}

Array blackman(double points) {
  return window(points, [&](const Array& n) {
    const Array twice = n.copy();
    make_cosine(n, points, 0.5);
    make_cosine(twice, points, 0.08, 2);
    add(0.42, n, n);
    add(n, twice, n);
  });
}

Array kaiser(double points, double beta) {
  if (points == 1) return ones({1});
  const double middle = (points - 1) / 2;
  const Array n = arange(0, points, 1, Dtype::float64);
  subtract(n, middle, n);
  divide(n, middle, n);
  square(n, n);
  subtract(1, n, n);
  sqrt(n, n);
  multiply(beta, n, n);
  const Array values = i0(n);
  return divide(values, i0(full({1}, beta, Dtype::float64)), values);
}

}  // namespace iruka
