// Arrays with margins: the inside is copied, then each axis's margins are filled from what lies between them.
#include "iruka/padding.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "iruka/ops.h"
#include "iruka/quantiles.h"
#include "ops/create/sequences.h"
#include "ops/elementwise/loop_types.h"
#include "ops/functions.h"
#include "ops/listener.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

constexpr const char* kModes[] = {"constant", "edge",    "empty",   "linear_ramp", "maximum", "mean",
                                  "median",   "minimum", "reflect", "symmetric",   "wrap"};

/// A result of at most so many bytes is filled as a whole first: writing twice in a cache costs less than one call for
/// each margin.
constexpr int64_t kCachedBytes = 8 << 20;

template <class T>
const T& of_axis(const std::vector<T>& entries, int axis) {
  return entries.size() == 1 ? entries[0] : entries[static_cast<size_t>(axis)];
}

template <class T>
void check_entries(const char* what, const std::vector<T>& entries, int ndim) {
  if (entries.size() > 1 && static_cast<int>(entries.size()) != ndim)
    throw ValueError(std::string("pad: ") + what + " has " + std::to_string(entries.size()) + " entries for " +
                     std::to_string(ndim) + " axes");
}

/// One axis of the result whose margins are filled.
class Axis {
 public:
  Axis(Array region, int axis, int64_t before, int64_t extent)
      : region_(std::move(region)), axis_(axis), start_(before), stop_(before + extent) {}

  int64_t extent() const { return stop_ - start_; }
  int64_t width(bool is_front) const { return is_front ? start_ : region_.shape(axis_) - stop_; }
  Array part(int64_t begin, int64_t end) const { return cut(region_, axis_, begin, end); }
  Array margin(bool is_front) const { return is_front ? part(0, start_) : part(stop_, region_.shape(axis_)); }
  /// So many elements of the inside at one end.
  Array end(bool is_front, int64_t count) const {
    return is_front ? part(start_, start_ + count) : part(stop_ - count, stop_);
  }

  void mirror(bool includes_edge, bool is_odd) {
    if (extent() == 1 && !includes_edge) {  // there is nothing to reflect but the edge itself
      for (const bool is_front : {true, false}) margin(is_front).assign(part(start_, stop_));
      return;
    }
    // Each round reflects as many whole copies of the inside as there are.
    const int64_t unit = includes_edge ? extent() : extent() - 1, skipped = includes_edge ? 0 : 1;
    while (start_ > 0 || stop_ < region_.shape(axis_)) {
      const int64_t period = (extent() - skipped) / unit * unit;
      const int64_t front = std::min(period, start_), back = std::min(period, region_.shape(axis_) - stop_);
      if (front > 0) {
        const Array turned = reversed(part(start_ + skipped, start_ + skipped + front), axis_);
        part(start_ - front, start_).assign(reflected(turned, part(start_, start_ + 1), is_odd));
      }
      if (back > 0) {
        const Array turned = reversed(part(stop_ - skipped - back, stop_ - skipped), axis_);
        part(stop_, stop_ + back).assign(reflected(turned, part(stop_ - 1, stop_), is_odd));
      }
      start_ -= front;
      stop_ += back;
    }
  }

  void wrap() {
    const int64_t period = extent();
    for (; start_ > 0; start_ -= std::min(period, start_)) {
      const int64_t count = std::min(period, start_);
      part(start_ - count, start_).assign(part(start_ + period - count, start_ + period));
    }
    for (const int64_t whole = region_.shape(axis_); stop_ < whole;) {
      const int64_t count = std::min(period, whole - stop_);
      part(stop_, stop_ + count).assign(part(stop_ - period, stop_ - period + count));
      stop_ += count;
    }
  }

  /// Values from `value` towards the edge, which is left out.
  void ramp(bool is_front, const PadValue& value) const {
    const Array edge = end(is_front, 1).squeeze(axis_);
    const Argument outer = std::visit([](const auto& given) { return Argument(given); }, value);
    const Argument all[] = {outer, edge, 0.0};
    Array values = spaced(outer, edge, width(is_front), false, result_type(all)).values;
    if (is_integer(edge.dtype())) values = floor(values);
    values = with_axis_at(values, 0, axis_);
    margin(is_front).assign(is_front ? values : reversed(values, axis_));
  }

  /// A statistic of the elements at one end, in their dtype.
  Array statistic(PadMode mode, bool is_front, const std::optional<int64_t>& length) const {
    const int64_t count = std::min(length.value_or(extent()), extent());
    if (count < 0 || (count == 0 && (mode == PadMode::maximum || mode == PadMode::minimum)))
      throw ValueError("pad: stat_length must be positive, not " + std::to_string(count));
    const Array elements = end(is_front, count);
    Array found;
    switch (mode) {
      case PadMode::maximum: found = max(elements, Dims{axis_}, true); break;
      case PadMode::minimum: found = min(elements, Dims{axis_}, true); break;
      case PadMode::mean: found = mean(elements, Dims{axis_}, true); break;
      default: found = median(elements, Dims{axis_}, true); break;
    }
    return cast(is_integer(elements.dtype()) && kind(found.dtype()) == Kind::floating ? rint(found) : found,
                elements.dtype());
  }

 private:
  static Array reflected(const Array& turned, const Array& edge, bool is_odd) {
    return is_odd ? subtract(multiply(2, edge), turned) : turned;
  }

  Array region_;
  int axis_;
  int64_t start_, stop_;  ///< what is filled so far
};

void write(Array margin, const PadValue& value) {
  if (const Scalar* number = std::get_if<Scalar>(&value))
    margin.fill(*number);
  else
    margin.assign(std::get<Array>(value));
}

void fill_margins(Axis axis, int number, const PadOptions& options) {
  const auto fill_each = [&](auto&& value) {
    for (const bool is_front : {true, false})
      if (axis.width(is_front) > 0) axis.margin(is_front).assign(value(is_front));
  };
  const auto given = [&](bool is_front) -> PadValue {
    if (options.values.empty()) return Scalar(0);
    const Margins<PadValue>& values = of_axis(options.values, number);
    return is_front ? values.first : values.second;
  };
  switch (options.mode) {
    case PadMode::constant:
      for (const bool is_front : {true, false}) write(axis.margin(is_front), given(is_front));
      break;
    case PadMode::empty: break;
    case PadMode::edge: fill_each([&](bool is_front) { return axis.end(is_front, 1); }); break;
    case PadMode::linear_ramp:
      for (const bool is_front : {true, false})
        if (axis.width(is_front) > 0) axis.ramp(is_front, given(is_front));
      break;
    case PadMode::reflect:
    case PadMode::symmetric: axis.mirror(options.mode == PadMode::symmetric, options.is_odd); break;
    case PadMode::wrap: axis.wrap(); break;
    default:
      for (const bool is_front : {true, false}) {
        std::optional<int64_t> length;
        if (!options.lengths.empty()) {
          const auto& lengths = of_axis(options.lengths, number);
          length = is_front ? lengths.first : lengths.second;
        }
        axis.margin(is_front).assign(axis.statistic(options.mode, is_front, length));
      }
  }
}

/// Raises what ops::check_element does for a constant that the dtype cannot hold.
void check_constants(const PadOptions& options, Dtype dtype) {
  for (const auto& [before, after] : options.values)
    for (const PadValue& value : {before, after})
      if (const Scalar* number = std::get_if<Scalar>(&value)) check_element(*number, dtype);
}

/// The element that every margin holds, if all are one number.
std::optional<Scalar> one_constant(const PadOptions& options, Dtype dtype) {
  if (options.values.empty()) return Scalar(0);
  alignas(16) std::byte first[16] = {}, other[16] = {};
  const Scalar* const number = std::get_if<Scalar>(&options.values[0].first);
  if (!number) return {};
  number->store(dtype, first);
  for (const auto& [before, after] : options.values)
    for (const PadValue& value : {before, after}) {
      const Scalar* const next = std::get_if<Scalar>(&value);
      if (!next) return {};
      next->store(dtype, other);
      if (std::memcmp(first, other, sizeof first) != 0) return {};
    }
  return *number;
}

}  // namespace

PadMode parse_pad_mode(const std::string& name) {
  const auto* found = std::ranges::find(kModes, name);
  if (found == std::end(kModes)) throw ValueError("pad: mode '" + name + "' is not supported");
  return static_cast<PadMode>(found - std::begin(kModes));
}

Array pad(const Array& x, const std::vector<Margins<int64_t>>& widths, const PadOptions& options) {
  check_entries("widths", widths, x.ndim());
  check_entries("values", options.values, x.ndim());
  check_entries("lengths", options.lengths, x.ndim());
  Dims shape = x.shape();
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto [before, after] = widths.empty() ? Margins<int64_t>() : of_axis(widths, axis);
    if (before < 0 || after < 0) throw ValueError("index can't contain negative values");
    int64_t& extent = shape[axis];
    if (__builtin_add_overflow(extent, before, &extent) || __builtin_add_overflow(extent, after, &extent)) {
      throw ShapeError("pad: " + std::to_string(before) + " and " + std::to_string(after) + " elements more on axis " +
                       std::to_string(axis) + " are too many");
    }
  }
  Array result = Array::empty(shape, x.dtype(), x.device());
  if (options.mode == PadMode::constant) check_constants(options, x.dtype());
  std::optional<Scalar> constant;
  if (options.mode == PadMode::constant && result.nbytes() <= kCachedBytes) constant = one_constant(options, x.dtype());
  if (constant) result.fill(*constant);
  // The inside of each axis, from the last one to the first.
  std::vector<Array> insides{result};
  for (int axis = x.ndim() - 1; axis >= 0; --axis) {
    const int64_t before = widths.empty() ? 0 : of_axis(widths, axis).first;
    insides.push_back(cut(insides.back(), axis, before, before + x.shape(axis)));
  }
  insides.back().assign(x);
  if (constant) return result;
  for (int axis = 0; axis < x.ndim() && options.mode != PadMode::empty; ++axis) {
    const auto [before, after] = widths.empty() ? Margins<int64_t>() : of_axis(widths, axis);
    if (before == 0 && after == 0) continue;
    if (x.shape(axis) == 0 && options.mode != PadMode::constant)
      throw ValueError("can't extend empty axis " + std::to_string(axis) +
                       " using modes other than 'constant' or 'empty'");
    if (result.size() == 0) continue;
    // Earlier axes have their margins already; of later ones only the inside is there.
    const Array& region = insides[static_cast<size_t>(x.ndim() - 1 - axis)];
    fill_margins(Axis(region, axis, before, x.shape(axis)), axis, options);
  }
  return result;
}

}  // namespace iruka
