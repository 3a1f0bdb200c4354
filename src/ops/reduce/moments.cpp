// Variances with a mask, a mean or a dtype of their own, and reductions without NaN.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device.h"
#include "core/service.h"
#include "iruka/statistics.h"
#include "ops/checks.h"
#include "ops/elementwise/cast_text.h"
#include "ops/functions.h"
#include "ops/listener.h"
#include "ops/reduce/reduction.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

const ReductionFunction kAllNumbers{"all_numbers"};

bool is_float(Dtype dtype) { return kind(dtype) == Kind::floating; }

/// Floats of 16 bits as float32, in which sums do not overflow.
Array widened(const Array& x) { return is_half(x.dtype()) ? x.astype(Dtype::float32) : x; }

/// Whether x, of floats, may be cast to the floats of `dtype` before anything else.
bool is_exact_in(Dtype dtype, const Array& x) {
  return is_float(dtype) && is_float(x.dtype()) && can_cast(x.dtype(), dtype, Casting::safe);
}

/// Warns where `mask()`, of a reduction of x, has a true element. A GPU is not waited for: it warns where x is empty.
template <class Mask>
void warn_where(const Array& x, const char* message, Mask&& mask) {
  if (current_listener && (x.size() == 0 || x.device().target().is_host) && any(mask()).item().as_bool()) warn(message);
}

/// total / count in total's dtype: a large count does not fit 16 bits.
Array per_count(const Array& total, const Argument& count) { return cast(divide(total, count), total.dtype()); }

/// The sum in `dtype` of squared distances from `mean`.
Array squared_distances(const Array& x, const Argument& mean, const ReductionOptions& sums) {
  Array distance = subtract(x, mean);
  if (is_complex(distance.dtype())) distance = absolute(distance);
  return reduce(sum, square(distance, distance), sums);
}

Array rooted(const Array& squares) {
  if (squares.ndim() > 0 && !is_inexact(squares.dtype()))
    throw TypeError(std::string("std: cannot cast the square root to ") + name(squares.dtype()) +
                    " by the rule 'same_kind'");
  return cast(sqrt(squares), squares.dtype());
}

/// The number of elements along axes.
int64_t count_along(const Array& x, const std::optional<Dims>& axes) {
  return count(extents_of(x, axes_or_all("var", axes, x.ndim())));
}

Array one_pass(const Array& x, const VarianceOptions& options) {
  const ReductionFunction::Row& row = reduction_row(options.root ? "std" : "var");
  const Array result = reduce_row(row, x, options.axes, options.keepdims, {}, {.correction = options.correction});
  if (current_listener) current_listener->varied(x, options.axes, options.correction, result);
  return result;
}

/// The mean first, then the distances from it.
Array two_passes(const Array& x, const VarianceOptions& options, std::optional<Dtype> own, const Array* counts) {
  Array mean_of_all;
  if (!options.mean)
    mean_of_all =
        reduce(mean, x, {.axes = options.axes, .keepdims = true, .dtype = options.dtype, .where = options.where});
  const Array squares = squared_distances(
      x, options.mean ? *options.mean : Argument(mean_of_all),
      {.axes = options.axes, .keepdims = options.keepdims, .dtype = options.dtype, .where = options.where});
  Array result;
  if (counts) {
    result = per_count(squares, maximum(subtract(*counts, options.correction), 0));
  } else {
    result = per_count(squares, std::max(static_cast<double>(count_along(x, options.axes)) - options.correction, 0.0));
  }
  if (options.root) result = rooted(result);
  return own && is_float(*own) ? cast(result, *own) : result;
}

/// With a dtype that holds x's elements exactly, x is cast first.
Array in_dtype(const Array& x, std::optional<Dtype>& dtype) {
  if (!dtype || !is_exact_in(*dtype, x)) return x;
  const Array wide = x.astype(*dtype, false);
  dtype.reset();
  return wide;
}

void check_inexact(const std::optional<Dtype>& dtype) {
  if (dtype && !is_inexact(*dtype)) throw TypeError("If a is inexact, then dtype must be inexact");
}

/// The elements that count: no NaN, and in the mask.
Array valid(const Array& x, const Array* where) {
  const Array numbers = equal(x, x);
  return where ? logical_and(numbers, *where) : numbers;
}

/// The mean from a sum and a count, both without NaN.
Array mean_of_numbers(const Array& x, const ReductionOptions& options) {
  const Array counts = sum(valid(x, options.where), options.axes, options.keepdims);
  warn_where(x, "Mean of empty slice", [&] { return equal(counts, 0); });
  const Array total = reduce(nansum, options.dtype ? x : widened(x), options);
  const SilentScope silent;
  const Array result = per_count(total, counts);
  return options.dtype ? result : cast(result, x.dtype());
}

/// Reductions of pairs, which only a GPU makes in one pass.
struct PairReductions {
  static constinit const Implementations<const PairReductions> implementations;

  Array (*numbers_mean)(const Array& x, const ReductionOptions& options);  ///< of floats, without mask and dtype
  Array (*range)(const Array& x, const std::optional<Dims>& axes, bool keepdims);
};

Array range_of_extremes(const Array& x, const std::optional<Dims>& axes, bool keepdims) {
  return subtract(max(x, axes, keepdims), min(x, axes, keepdims));
}

Array range_in_one_pass(const Array& x, const std::optional<Dims>& axes, bool keepdims) {
  if (is_complex(x.dtype()) || x.dtype() == Dtype::bool_) return range_of_extremes(x, axes, keepdims);
  return reduce_row(reduction_row("ptp"), x, axes, keepdims, {});
}

Array mean_in_one_pass(const Array& x, const ReductionOptions& options) {
  return reduce_row(reduction_row("nanmean"), x, options.axes, options.keepdims, {});
}

constexpr PairReductions kCpu{mean_of_numbers, range_of_extremes}, kCuda{mean_in_one_pass, range_in_one_pass};
const Implementations<const PairReductions> PairReductions::implementations{"reductions of pairs", {&kCpu, &kCuda}};

Array nan_selection(const ReductionFunction& function, double neutral, const Array& x, std::optional<int64_t> axis,
                    bool keepdims) {
  std::optional<Dims> axes;
  if (axis) axes = Dims{*axis};
  if (!is_inexact(x.dtype()) || kAllNumbers(x).item().as_bool()) return function(x, axes, keepdims);
  const Array none = ops::isnan(x);
  if (any(all(none, axes)).item().as_bool()) throw ValueError("All-NaN slice encountered");
  return function(where(none, neutral, x).astype(x.dtype(), false), axes, keepdims);
}

}  // namespace

Array variance(const Array& x, const VarianceOptions& options) {
  VarianceOptions rules = options;
  const Array elements = in_dtype(x, rules.dtype);
  Array counts;
  if (rules.where) {
    counts = sum(rules.where->broadcast_to(x.shape()), rules.axes, rules.keepdims);
    warn_where(x, "Degrees of freedom <= 0 for slice", [&] { return less_equal(counts, rules.correction); });
  } else if (static_cast<double>(count_along(x, rules.axes)) <= rules.correction) {
    warn("Degrees of freedom <= 0 for slice");
  }
  if (!rules.where && !rules.mean && !rules.dtype) return one_pass(elements, rules);
  std::optional<Dtype> own;
  if (!rules.dtype && is_inexact(elements.dtype())) {
    const Argument both[] = {elements, rules.mean.value_or(Argument(elements))};
    own = rules.mean && options.dtype ? *options.dtype : result_type(both);
  }
  const bool is_whole = rules.dtype && !is_inexact(*rules.dtype);  // squares of integers wrap in their dtype then
  const Array wide = is_inexact(elements.dtype()) || is_whole ? widened(elements) : elements.astype(Dtype::float64);
  return two_passes(wide, rules, own, rules.where ? &counts : nullptr);
}

Array nanvariance(const Array& x, const VarianceOptions& options) {
  if (!is_inexact(x.dtype())) return variance(x, options);
  check_inexact(options.dtype);
  std::optional<Dtype> dtype = options.dtype;
  const Array elements = in_dtype(x, dtype), wide = widened(elements);
  const Array numbers = valid(wide, options.where), counts = sum(numbers, options.axes, true);
  Array mean_of_all;
  if (!options.mean) {
    const Array total =
        reduce(nansum, wide, {.axes = options.axes, .keepdims = true, .dtype = dtype, .where = options.where});
    const SilentScope silent;
    mean_of_all = per_count(total, counts);
  }
  const Array squares =
      squared_distances(wide, options.mean ? *options.mean : Argument(mean_of_all),
                        {.axes = options.axes, .keepdims = options.keepdims, .dtype = dtype, .where = &numbers});
  const Array degrees = subtract(counts.reshape(squares.shape()), options.correction);
  warn_where(x, "Degrees of freedom <= 0 for slice.", [&] { return less_equal(degrees, 0); });
  const SilentScope silent;
  Array result = per_count(squares, where(greater(degrees, 0), degrees, NAN));
  if (options.root) result = sqrt(result);
  return dtype ? result : cast(result, real_dtype(elements.dtype()));
}

Array nanmean(const Array& x, const ReductionOptions& options) {
  if (!is_inexact(x.dtype())) return reduce(mean, x, options);
  check_inexact(options.dtype);
  if (options.where || options.dtype || x.size() == 0) return mean_of_numbers(x, options);
  return x.device().service<PairReductions>().numbers_mean(x, options);
}

Array nanargmin(const Array& x, std::optional<int64_t> axis, bool keepdims) {
  return nan_selection(argmin, INFINITY, x, axis, keepdims);
}
Array nanargmax(const Array& x, std::optional<int64_t> axis, bool keepdims) {
  return nan_selection(argmax, -INFINITY, x, axis, keepdims);
}

Array ptp(const Array& x, const std::optional<Dims>& axes, bool keepdims) {
  return x.device().service<PairReductions>().range(x, axes, keepdims);
}

}  // namespace iruka
