#include "nn/point_function.h"

#include <algorithm>

#include "core/device.h"
#include "ops/checks.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

using Run = std::function<void(const Array&, const Array&)>;

/// Calls `run(x, y)` for parts of the points of at most `most` each, by halves of the first axis that has several.
void in_parts(const Array& x, const Array& y, int64_t most, const Run& run) {
  int axis = 0;
  while (axis + 1 < x.ndim() && x.shape(axis) == 1) ++axis;
  if (axis + 1 >= x.ndim() || x.size() / x.shape(x.ndim() - 1) <= most) return run(x, y);
  const int64_t all = x.shape(axis), half = all / 2;
  in_parts(ops::cut(x, axis, 0, half), ops::cut(y, axis, 0, half), most, run);
  in_parts(ops::cut(x, axis, half, all), ops::cut(y, axis, half, all), most, run);
}

int64_t points_of_part(const PointFunction& function, int64_t points, bool reports) {
  constexpr int64_t kReports = 64, kFewest = 1 << 16;
  const int64_t most = std::min(function.points_at_once, points);
  return std::max<int64_t>(1, reports ? std::min(most, std::max(kFewest, points / kReports)) : most);
}

}  // namespace

int features_axis(const PointFunction& function, const Array& x, int64_t axis) {
  const std::string features = std::to_string(function.in_features), start = std::string(function.name) + ": ";
  if (x.ndim() == 0)
    throw ShapeError(start + "expected an axis of " + features + " features, but the array has no axes");
  const int at = normalize_axis(function.name, axis, x.ndim());
  if (x.shape(at) != function.in_features)
    throw ShapeError(start + "expected " + features + " features along axis " + std::to_string(axis) +
                     ", but the array has shape " + to_string(x.shape()));
  if (is_complex(x.dtype())) throw TypeError(start + "expected real numbers, not " + name(x.dtype()));
  if (&x.device() != function.device)
    throw ValueError(start + "the array is on " + x.device().name() + ", but the weights are on " +
                     function.device->name() + "; to_device() moves the one, to() of a module the others");
  return at;
}

Array map_points(const PointFunction& function, const Array& x, int64_t axis, const MapOptions& options) {
  const int at = features_axis(function, x, axis);
  Dims shape = x.shape();
  shape[at] = function.out_features;
  const Array* const out = options.out;
  if (out) {
    ops::check_out(function.name, *out, shape, *function.device);
    ops::check_cast(function.dtype, out->dtype(), Casting::same_kind);
  }
  const bool is_direct = out && out->dtype() == function.dtype && !out->may_overlap(x);
  const Array y = is_direct ? *out : Array::empty(shape, function.dtype, *function.device);
  if (const int64_t points = y.size() / function.out_features; points > 0) {
    int64_t done = 0;
    const Run run = [&](const Array& x_part, const Array& y_part) {
      function.run(x_part, y_part);
      done += y_part.size() / function.out_features;
      if (options.progress) options.progress(done, points);
    };
    in_parts(ops::with_axis_at(x, at, x.ndim() - 1), ops::with_axis_at(y, at, y.ndim() - 1),
             points_of_part(function, points, bool(options.progress)), run);
  }
  if (!out || is_direct) return y;
  Array(*out).assign(y);
  return *out;
}

}  // namespace iruka::nn
