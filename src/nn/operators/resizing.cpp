// Resize: each axis by itself, as weighted sums of elements whose places and weights are computed on the host.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/device.h"
#include "iruka/ops.h"
#include "nn/operators/operator.h"
#include "nn/operators/resize_loops.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

/// How an axis is resized.
struct AxisPlan {
  int64_t in, out;
  double scale;
  double roi_start = 0, roi_end = 1;
};

struct Method {
  std::string mode, coordinates, nearest;
  double cubic_a;
  bool is_antialiased, excludes_outside;
};

/// Which elements an element of the result is made of: `taps` for each.
struct Weights {
  int64_t taps = 1;
  Array places, weights;         ///< int64 and float64, on the CPU
  std::vector<bool> is_outside;  ///< of the region of tf_crop_and_resize
};

double source_of(const Method& method, const AxisPlan& axis, int64_t place) {
  const double x = static_cast<double>(place), in = static_cast<double>(axis.in), length = axis.scale * in;
  const std::string& mode = method.coordinates;
  if (mode == "align_corners") return length == 1 ? 0 : x * (in - 1) / (length - 1);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "tf_crop_and_resize") {
    const double region = axis.roi_end - axis.roi_start;
    return (length == 1 ? region * (in - 1) / 2 : x * region * (in - 1) / (length - 1)) + axis.roi_start * (in - 1);
  }
  if (mode == "pytorch_half_pixel" && length == 1) return -0.5;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(axis.out) / length;
    return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  return (x + 0.5) / axis.scale - 0.5;
}

int64_t nearest_place(const Method& method, double x) {
  const double below = std::floor(x), ratio = x - below;
  bool is_up = false;
  if (method.nearest == "round_prefer_floor") is_up = ratio > 0.5;
  if (method.nearest == "round_prefer_ceil") is_up = ratio >= 0.5;
  if (method.nearest == "ceil") is_up = ratio > 0;
  return static_cast<int64_t>(below) + (is_up ? 1 : 0);
}

/// Keys' cubic convolution.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The factor of distances in a filter that is as wide as the elements of the result are apart.
double filter_scale(const Method& method, const AxisPlan& axis) {
  return method.is_antialiased ? std::min(axis.scale, 1.0) : 1.0;
}
/// Of how many elements of the axis each one of the result is made.
double taps_of(const Method& method, const AxisPlan& axis) {
  return method.mode == "nearest" ? 1 : 2 * std::ceil((method.mode == "cubic" ? 2 : 1) / filter_scale(method, axis));
}

Weights weights_of(const Method& method, const AxisPlan& axis) {
  const bool is_cubic = method.mode == "cubic", is_nearest = method.mode == "nearest";
  const double scale = filter_scale(method, axis);
  Weights made;
  made.taps = static_cast<int64_t>(taps_of(method, axis));
  const int64_t first = 1 - made.taps / 2;
  made.places = Array::empty({axis.out * made.taps}, Dtype::int64, cpu());
  made.weights = Array::empty({axis.out * made.taps}, Dtype::float64, cpu());
  auto* const places = static_cast<int64_t*>(made.places.data());
  auto* const weights = static_cast<double*>(made.weights.data());
  for (int64_t place = 0; place < axis.out; ++place) {
    const double x = source_of(method, axis, place);
    made.is_outside.push_back(method.coordinates == "tf_crop_and_resize" &&
                              (x < 0 || x > static_cast<double>(axis.in - 1)));
    const int64_t begin = place * made.taps, end = begin + made.taps;
    for (int64_t tap = 0; tap < made.taps; ++tap) {
      const int64_t at = is_nearest ? nearest_place(method, x) : static_cast<int64_t>(std::floor(x)) + first + tap;
      const double distance = (static_cast<double>(at) - x) * scale;
      double weight = is_nearest ? 1
                      : is_cubic ? cubic(distance, method.cubic_a)
                                 : std::max(1 - std::abs(distance), 0.0);
      if (method.excludes_outside && !is_nearest && (at < 0 || at >= axis.in)) weight = 0;
      places[begin + tap] = std::clamp<int64_t>(at, 0, axis.in - 1);
      weights[begin + tap] = weight;
    }
    if (!method.is_antialiased && !method.excludes_outside) continue;
    const double total = std::accumulate(weights + begin, weights + end, 0.0);
    for (int64_t k = begin; k < end; ++k) weights[k] /= total;
  }
  return made;
}

Array resized_axis(const Array& given, int axis, const Weights& weights, int64_t out) {
  const Array x = given.contiguous();
  Dims shape = x.shape();
  shape[axis] = out;
  const int64_t inner = extent_between(x, axis + 1, x.ndim());
  if (x.device().target().is_host && count(shape) > 0) {
    const Array result = Array::empty(shape, x.dtype(), x.device());
    const ResizedAxis resized{count(shape) / inner / out,
                              x.shape(axis),
                              out,
                              inner,
                              weights.taps,
                              static_cast<const int64_t*>(weights.places.data()),
                              static_cast<const double*>(weights.weights.data())};
    if (resize_by_loops(resized, x, result)) return result;
  }
  const Array places = weights.places.to_device(x.device());
  const bool is_copy = weights.taps == 1;
  const Dtype dtype = is_copy || x.dtype() == Dtype::float64 ? x.dtype() : Dtype::float32;
  const std::string type = is_copy ? "T" : name(x.dtype()), sum = info(dtype).c_type;
  const std::string start = "const int64_t to = i / inner % out, from = i / inner / out * in * inner + i % inner;\n";
  if (is_copy) {
    const auto& kernel = kernel_of("", "raw const T x, raw const int64 places, int64 inner, int64 in, int64 out",
                                   "raw T y", start + "y[i] = x[from + places[to] * inner];", "resize_nearest");
    return filled_by(kernel, {x, places, inner, x.shape(axis), out}, shape, x.dtype(), x.device());
  }
  const Array factors = weights.weights.to_device(x.device()).astype(dtype, false);
  const auto& kernel = kernel_of("",
                                 "raw const " + type + " x, raw const int64 places, raw const " + name(dtype) +
                                     " weights, int64 taps, int64 inner, int64 in, int64 out",
                                 "raw " + type + " y",
                                 start + sum + R"( total = 0;
      for (int64_t tap = 0; tap < taps; ++tap) total += weights[to * taps + tap] * )" +
                                     sum + "(x[from + places[to * taps + tap] * inner]);\ny[i] = total;",
                                 "resize");
  return filled_by(kernel, {x, places, factors, weights.taps, inner, x.shape(axis), out}, shape, x.dtype(), x.device());
}

Array resized(const Array& given, const std::vector<int>& axes, const std::vector<AxisPlan>& plans,
              const Method& method, const Scalar& outside) {
  Array x = given;
  std::vector<std::pair<int, std::vector<bool>>> outsides;
  // Axes that shrink first, then the last of those that grow: the sums along the last axis read single elements.
  std::vector<size_t> order(axes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto grows = [&](size_t k) { return plans[k].out > plans[k].in; };
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return grows(a) == grows(b) ? grows(a) && axes[a] > axes[b] : !grows(a); });
  for (const size_t k : order) {
    if (plans[k].in == plans[k].out && plans[k].scale == 1 && method.coordinates != "tf_crop_and_resize") continue;
    const Weights weights = weights_of(method, plans[k]);
    x = resized_axis(x, axes[k], weights, plans[k].out);
    outsides.emplace_back(axes[k], weights.is_outside);
  }
  for (const auto& [axis, flags] : outsides) {
    for (size_t place = 0; place < flags.size(); ++place) {
      if (flags[place]) ops::slice_at(x, axis, static_cast<int64_t>(place)).fill(outside);
    }
  }
  return x;
}

/// An extent; one beyond all limits for what is too large or none.
int64_t whole_number(double extent) {
  return extent >= 0 && extent < 0x1p62 ? static_cast<int64_t>(extent) : INT64_MAX;
}

/// Extents of the result by what `sizes` says, which may keep the ratio of axes.
void take_sizes(const Call& call, const std::vector<int64_t>& sizes, std::vector<AxisPlan>& plans) {
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (sizes.size() != plans.size())
    call.fail("there are " + std::to_string(sizes.size()) + " sizes for " + std::to_string(plans.size()) + " axes");
  double common = 0;
  for (size_t k = 0; k < plans.size(); ++k) {
    plans[k].out = sizes[k];
    plans[k].scale = static_cast<double>(sizes[k]) / static_cast<double>(plans[k].in);
    const double scale = plans[k].scale;
    common = k == 0 ? scale : policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  if (policy == "stretch") return;
  for (AxisPlan& plan : plans) {
    plan.scale = common;
    plan.out = whole_number(std::floor(common * static_cast<double>(plan.in) + 0.5));
  }
}

std::vector<double> numbers_of(const Call& call, size_t input) {
  return call[input].astype(Dtype::float64, false).to_vector<double>();
}

void take_scales(const Call& call, const std::vector<double>& scales, std::vector<AxisPlan>& plans) {
  if (scales.size() != plans.size())
    call.fail("there are " + std::to_string(scales.size()) + " scales for " + std::to_string(plans.size()) + " axes");
  for (size_t k = 0; k < plans.size(); ++k) {
    plans[k].scale = scales[k];
    plans[k].out = whole_number(std::floor(static_cast<double>(plans[k].in) * scales[k]));
  }
}

/// The most elements of an axis, times those of which each is made.
constexpr double kMostPlaces = 0x1p26;

void check(const Call& call, const Method& method, const std::vector<AxisPlan>& plans) {
  for (const AxisPlan& plan : plans) {
    const std::string axis = "an axis of " + std::to_string(plan.in) + " cannot be resized ";
    if (plan.in <= 0 || !(plan.scale > 0)) call.fail(axis + "by " + std::to_string(plan.scale));
    const double taps = taps_of(method, plan), most = std::floor(kMostPlaces / taps);
    if (static_cast<double>(plan.out) * taps <= kMostPlaces && taps <= kMostPlaces) continue;
    call.fail(axis + "to " + std::to_string(plan.out) + " elements: at most " +
              std::to_string(static_cast<int64_t>(most)) + " can be");
  }
}

Results resize_operator(const Call& call) {
  const Array& x = call[0];
  std::vector<int> axes(static_cast<size_t>(x.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = call.integers("axes")) {
    axes.clear();
    for (int64_t axis : *given) axes.push_back(call.axis(axis, x.ndim()));
  }
  std::vector<AxisPlan> plans;
  plans.reserve(axes.size());
  for (int axis : axes) plans.push_back({x.shape(axis), x.shape(axis), 1});
  const bool is_old = call.opset() < 11;  // without a region and sizes; scales are the second input
  Method method{call.text("mode", "nearest"),
                call.text("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel"),
                call.text("nearest_mode", is_old ? "floor" : "round_prefer_floor"),
                call.number("cubic_coeff_a", -0.75),
                call.integer("antialias", 0) != 0,
                call.integer("exclude_outside", 0) != 0};
  if (method.mode == "bilinear") method.mode = "linear";
  const size_t scales = is_old ? 1 : 2;
  if (call.has(3) && call[3].size() != 0) {
    take_sizes(call, call.integers_of(3), plans);
  } else if (call.has(scales) && call[scales].size() != 0) {
    take_scales(call, numbers_of(call, scales), plans);
  } else {
    take_scales(call, call.numbers("scales"), plans);
  }
  check(call, method, plans);
  if (method.coordinates == "tf_crop_and_resize") {
    const std::vector<double> region = numbers_of(call, 1);
    if (region.size() != 2 * plans.size()) call.fail("roi must have two numbers for each axis");
    for (size_t k = 0; k < plans.size(); ++k)
      plans[k].roi_start = region[k], plans[k].roi_end = region[k + plans.size()];
  }
  return {resized(x, axes, plans, method, Scalar(call.number("extrapolation_value", 0)))};
}

constexpr Operator kRows[] = {
    {"Resize", resize_operator, 0b1110},
    {"Upsample", resize_operator, 0b10},
};

}  // namespace

std::span<const Operator> resizing_operators() { return kRows; }

}  // namespace iruka::nn
