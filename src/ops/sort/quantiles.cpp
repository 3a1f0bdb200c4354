// Medians and quantiles: selects elements by rank and interpolates between two of them.
#include "iruka/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device.h"
#include "core/once.h"
#include "iruka/device.h"
#include "iruka/indexing.h"
#include "iruka/sorting.h"
#include "iruka/statistics.h"
#include "ops/checks.h"
#include "ops/functions.h"
#include "ops/listener.h"
#include "ops/reduce/weights.h"
#include "ops/sort/order_statistics.h"
#include "ops/sort/order_text.h"
#include "ops/sort/quantile_ranks.h"

namespace iruka {
namespace {

using namespace ops;

/// Interpolates between a and b at share t.
const ElementwiseKernel& between_kernel() {
  return made_once([] {
    return ElementwiseKernel("T a, T b, U t", "V y", "y = between((V)a, (V)b, (V)t);", "quantile",
                             {.preamble = order_text("between")});
  });
}

/// The mean of two numbers; the sum of their halves where the sum overflows.
const ElementwiseKernel& middle_kernel() {
  return made_once([] {
    return ElementwiseKernel("T a, T b", "V y",
                             "const double low = (double)a, high = (double)b, sum = low + high;"
                             "y = (V)(sum - sum == 0 ? sum / 2 : low / 2 + high / 2);",
                             "median");
  });
}

/// Element `rank` of each row of a sorted array; a negative rank stands for NaN.
const ElementwiseKernel& rank_kernel() {
  return made_once([] {
    return ElementwiseKernel("raw const T rows, int64 rank, int64 row, int64 length, T none", "T y",
                             "y = rank < 0 ? none : rows[row * length + rank];", "at_rank");
  });
}

template <class T>
Array on_device(const std::vector<T>& values, const Dims& shape, Device& device) {
  Array host = Array::empty(shape, dtype_of<T>, cpu());
  std::copy(values.begin(), values.end(), static_cast<T*>(host.data()));
  return host.to_device(device);
}

/// An array with the reduced axes last and joined.
struct Rows {
  Rows(const Array& x, const std::optional<Dims>& given) {
    Dims axes;
    if (given) axes = normalize_axes("quantile", *given, x.ndim());
    Dims order, joined;
    std::vector<int64_t> reduced;
    int64_t length = 1;
    for (int axis = 0; axis < x.ndim(); ++axis) {
      const bool goes = !given || std::find(axes.begin(), axes.end(), axis) != axes.end();
      whole.push_back(goes ? 1 : x.shape(axis));
      if (goes) {
        reduced.push_back(axis);
        length *= x.shape(axis);
      } else {
        order.push_back(axis);
        shape.push_back(x.shape(axis));
      }
    }
    for (const int64_t axis : reduced) order.push_back(axis);
    joined = shape;
    joined.push_back(length);
    rows = x.ndim() == 1 && !reduced.empty() ? x : x.transpose(order).reshape(joined);
  }
  int64_t length() const { return rows.shape(rows.ndim() - 1); }
  int64_t count() const { return iruka::count(shape); }
  /// The results, one for each row and share, in the requested shape.
  Array finished(const Array& result, const Dims& first, bool keepdims) const {
    Dims all = first;
    for (const int64_t extent : keepdims ? whole : shape) all.push_back(extent);
    return result.reshape(all);
  }

  Array rows;
  Dims shape, whole;  ///< of the kept axes, and with ones for the others
};

/// x[..., k] for each k.
std::vector<Array> columns_at(const Array& x, std::span<const int64_t> ranks) {
  std::vector<Array> columns;
  for (const int64_t rank : ranks) columns.push_back(x.at(Ellipsis{}, rank));
  return columns;
}

/// The result of no ranks: shape (0, rows' shape).
Array of_no_ranks(const Array& rows) {
  Dims shape{0};
  for (int axis = 0; axis + 1 < rows.ndim(); ++axis) shape.push_back(rows.shape(axis));
  return Array::empty(shape, rows.dtype(), rows.device());
}

/// The elements of each row at unsorted ranks: shape (ranks, rows' shape). NaN for rows that have one.
Array select(const Array& rows, std::span<const int64_t> ranks) {
  if (ranks.empty()) return of_no_ranks(rows);
  if (rows.device().target().is_host && !is_complex(rows.dtype())) return select_ranks(rows, ranks);
  const Array ordered = sort(rows), found = stack(columns_at(ordered, ranks));
  if (!is_inexact(rows.dtype())) return found;
  const Array last = ordered.at(Ellipsis{}, -1);
  return where(equal(last, last), found, last);
}

/// Of sorted rows, those at each row's ranks: shape (shares, rows).
Array at_ranks(const Rows& sorted, const std::vector<int64_t>& ranks) {
  Device& device = sorted.rows.device();
  const int64_t count = sorted.count(), shares = static_cast<int64_t>(ranks.size()) / std::max<int64_t>(count, 1);
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) numbers[static_cast<size_t>(k)] = k;
  const Scalar none = Scalar(is_inexact(sorted.rows.dtype()) ? NAN : 0.0).as_element(sorted.rows.dtype());
  return rank_kernel()(sorted.rows.ravel(), on_device(ranks, {shares, count}, device),
                       on_device(numbers, {count}, device), Scalar(sorted.length()).typed(Dtype::int64), none);
}

Shares shares_of(const Argument& q, bool percent, QuantileMethod method) {
  Shares shares;
  shares.is_weak = !q.is_array() && q.scalar().weak();
  if (q.is_array()) {
    shares.dtype = q.array().dtype();
    shares.shape = q.array().shape();
    const Array host = q.array().to_device(cpu());
    if (is_complex(host.dtype())) throw TypeError("quantile: q must be real, not complex");
    shares.values = host.astype(Dtype::float64, false).to_vector<double>();
  } else {
    shares.dtype = q.scalar().dtype();
    shares.values = {q.scalar().as_double()};
  }
  // Integers would give integer positions, which stand for methods that pick elements; 'linear' does, of 0 and 1.
  const bool is_whole = !is_inexact(shares.dtype);
  if (is_whole && (percent || method != QuantileMethod::linear)) shares.dtype = Dtype::float64;
  if (shares.shape.size() > 2) throw ValueError("q must be a scalar or 1d");
  for (double& share : shares.values) {
    if (percent) share = Scalar(share / 100).as_element(shares.dtype).as_double();
    if (!(share >= 0 && share <= 1))
      throw ValueError(percent ? "Percentiles must be in the range [0, 100]" : "Quantiles must be in the range [0, 1]");
  }
  return shares;
}

Dtype result_dtype(const Array& x, const Shares& shares) {
  if (x.dtype() == Dtype::bool_)
    throw TypeError(
        "quantile: this method interpolates, which bool does not allow; cast the array, or use a method that selects "
        "an element");
  return shares.is_weak ? promote_weak(x.dtype(), Scalar(0.0)) : promote(x.dtype(), shares.dtype);
}

/// The weights as float64 of x's shape.
Array weights_of_all(const Array& x, const QuantileOptions& options) {
  return weights_along(x, *options.weights, options.axes).astype(Dtype::float64).broadcast_to(x.shape());
}

Array weighted(const Array& x, const Shares& shares, const QuantileOptions& options, const Array& weights) {
  if (any(less(weights, 0)).item().as_bool()) throw ValueError("Weights must be non-negative.");
  const Rows elements(x, options.axes), own(weights, options.axes);
  const Array found = x.device().target().is_host
                          ? select_weighted(elements.rows, own.rows, shares.values)
                          : select_weighted_by_functions(elements.rows, own.rows, shares.values);
  return elements.finished(found, shares.shape, options.keepdims);
}

void check_weighted(QuantileMethod method, const char* name) {
  if (method != QuantileMethod::inverted_cdf)
    throw ValueError(std::string("Only method 'inverted_cdf' supports weights. Got: ") + name + ".");
}

const char* name_of(QuantileMethod method) {
  static constexpr const char* kNames[] = {"inverted_cdf",
                                           "averaged_inverted_cdf",
                                           "closest_observation",
                                           "interpolated_inverted_cdf",
                                           "hazen",
                                           "weibull",
                                           "linear",
                                           "median_unbiased",
                                           "normal_unbiased",
                                           "lower",
                                           "higher",
                                           "midpoint",
                                           "nearest"};
  return kNames[static_cast<size_t>(method)];
}

Array quantile_of(const char* function, const Array& x, const Shares& shares, const QuantileOptions& options) {
  const Rows elements(x, options.axes);
  if (elements.length() == 0)
    throw IndexError(std::string(function) + ": cannot take a quantile of no elements, shape " + to_string(x.shape()));
  if (options.weights) {
    check_weighted(options.method, name_of(options.method));
    return weighted(x, shares, options, weights_of_all(x, options));
  }
  Neighbours found = neighbours({elements.length()}, shares, options.method);
  if (found.is_discrete) return elements.finished(select(elements.rows, found.lower), shares.shape, options.keepdims);
  const int64_t size = static_cast<int64_t>(shares.values.size());
  Dims shape{size}, along{size};
  for (const int64_t extent : elements.shape) shape.push_back(extent), along.push_back(1);
  Array result = Array::empty(shape, result_dtype(x, shares), x.device());
  found.lower.insert(found.lower.end(), found.upper.begin(), found.upper.end());
  const Array both = select(elements.rows, found.lower);
  between_kernel()(both.at(Slice{{}, size, {}}), both.at(Slice{size, {}, {}}),
                   on_device(found.weight, along, x.device()), result);
  return elements.finished(result, shares.shape, options.keepdims);
}

/// The number of each sorted row's elements that are not NaN.
std::vector<int64_t> number_counts(const Array& sorted) {
  std::vector<int64_t> counts = sum(equal(sorted, sorted), Dims{-1}).to_vector<int64_t>();
  if (std::ranges::find(counts, 0) != counts.end()) warn("All-NaN slice encountered");
  return counts;
}

/// NaN for rows without numbers.
std::vector<int64_t> known_ranks(std::vector<int64_t> ranks, const std::vector<int64_t>& counts) {
  for (size_t k = 0; k < ranks.size(); ++k)
    if (counts[k % counts.size()] == 0) ranks[k] = -1;
  return ranks;
}

Array nan_weighted(const Array& x, const Shares& shares, const QuantileOptions& options, const Array& weights) {
  if (!is_inexact(x.dtype())) return weighted(x, shares, options, weights);
  const Array valid = logical_not(ops::isnan(x)), some = any(valid, options.axes, true);
  if (!all(some).item().as_bool()) warn("All-NaN slice encountered");
  const double infinity = std::numeric_limits<double>::infinity();
  const Array large = where(valid, x, where(some, infinity, NAN)).astype(x.dtype(), false);
  return weighted(large, shares, options, where(valid, weights, where(some, 0.0, 1.0)));
}

Array nan_quantile_of(const char* function, const Array& x, const Shares& shares, const QuantileOptions& options) {
  std::optional<Array> weights;
  if (options.weights) {
    check_weighted(options.method, name_of(options.method));
    weights = weights_of_all(x, options);
  }
  if (x.size() == 0) return nanmean(x, {.axes = options.axes, .keepdims = options.keepdims});
  if (weights) return nan_weighted(x, shares, options, *weights);
  if (!is_inexact(x.dtype())) return quantile_of(function, x, shares, options);
  Rows elements(x, options.axes);
  elements.rows = sort(elements.rows);
  const std::vector<int64_t> counts = number_counts(elements.rows);
  std::vector<int64_t> some = counts;
  for (int64_t& count : some) count = std::max<int64_t>(count, 1);
  const Neighbours found = neighbours(some, shares, options.method);
  const Array below = at_ranks(elements, known_ranks(found.lower, counts));
  if (found.is_discrete) return elements.finished(below, shares.shape, options.keepdims);
  Array result = Array::empty(below.shape(), result_dtype(x, shares), x.device());
  between_kernel()(below, at_ranks(elements, known_ranks(found.upper, counts)),
                   on_device(found.weight, below.shape(), x.device()), result);
  return elements.finished(result, shares.shape, options.keepdims);
}

Array mean_of(const Array& low, const Array& high) {
  if (is_complex(low.dtype())) return add(divide(low, 2), divide(high, 2));
  Array result = Array::empty(low.shape(), is_inexact(low.dtype()) ? low.dtype() : Dtype::float64, low.device());
  middle_kernel()(low, high, result);
  return result;
}

void check_real(const Array& x) {
  if (is_complex(x.dtype())) throw TypeError("a must be an array of real numbers");
}

Array quantile_or_percentile(const char* function, const Array& x, const Argument& q, const QuantileOptions& options,
                             bool percent) {
  check_real(x);
  return quantile_of(function, x, shares_of(q, percent, options.method), options);
}

Array nan_quantile_or_percentile(const char* function, const Array& x, const Argument& q,
                                 const QuantileOptions& options, bool percent) {
  check_real(x);
  return nan_quantile_of(function, x, shares_of(q, percent, options.method), options);
}

}  // namespace

namespace ops {

Array select_weighted_by_functions(const Array& rows, const Array& weights, std::span<const double> shares) {
  if (shares.empty()) return of_no_ranks(rows);
  const int64_t n = rows.shape(rows.ndim() - 1);
  const Array order = argsort(rows), ordered = take_along_axis(rows, order, -1);
  Array sums = scan(take_along_axis(weights, order, -1), ScanOperation::add, -1);
  sums = divide(sums, sums.at(Ellipsis{}, Slice{-1, {}, {}}));
  if (n == 0 || any(ops::isnan(sums.at(Ellipsis{}, -1))).item().as_bool())
    throw ValueError("Weights included NaN, inf or were all zero.");
  sums = where(equal(sums, 0), -1.0, sums);  // elements without weight are none, for 0 as well
  const Array last = ordered.at(Ellipsis{}, Slice{-1, {}, {}});
  std::vector<Array> found;
  for (const double share : shares) {
    const Array rank = minimum(sum(less(sums, share), Dims{-1}, true), n - 1);
    Array chosen = take_along_axis(ordered, rank, -1);
    if (is_inexact(rows.dtype())) chosen = where(equal(last, last), chosen, last);
    found.push_back(chosen.at(Ellipsis{}, 0));
  }
  return stack(found);
}

}  // namespace ops

Array quantile(const Array& x, const Argument& q, const QuantileOptions& options) {
  return quantile_or_percentile("quantile", x, q, options, false);
}
Array percentile(const Array& x, const Argument& q, const QuantileOptions& options) {
  return quantile_or_percentile("percentile", x, q, options, true);
}
Array nanquantile(const Array& x, const Argument& q, const QuantileOptions& options) {
  return nan_quantile_or_percentile("nanquantile", x, q, options, false);
}
Array nanpercentile(const Array& x, const Argument& q, const QuantileOptions& options) {
  return nan_quantile_or_percentile("nanpercentile", x, q, options, true);
}

Array median(const Array& x, const std::optional<Dims>& axes, bool keepdims) {
  const Rows elements(x, axes);
  const int64_t n = elements.length();
  if (n == 0) return mean(x, axes, keepdims);
  const int64_t ranks[] = {(n - 1) / 2, n / 2};
  const Array found = select(elements.rows, std::span(ranks).first(n % 2 ? 1 : 2));
  const Array first = found.at(0);
  const Array result = n % 2 && is_inexact(x.dtype()) ? first : mean_of(first, found.at(-1));
  return keepdims ? result.reshape(elements.whole) : result;
}

Array nanmedian(const Array& x, const std::optional<Dims>& axes, bool keepdims) {
  if (!is_inexact(x.dtype()) || x.size() == 0) return median(x, axes, keepdims);
  Rows elements(x, axes);
  elements.rows = sort(elements.rows);
  const std::vector<int64_t> counts = number_counts(elements.rows);
  std::vector<int64_t> low, high;
  for (const int64_t count : counts) {
    low.push_back(count > 0 ? (count - 1) / 2 : -1);
    high.push_back(count > 0 ? count / 2 : -1);
  }
  const Array result = mean_of(at_ranks(elements, low), at_ranks(elements, high));
  return elements.finished(result, {}, keepdims);
}

}  // namespace iruka
