// The edges of histograms, and the rules that estimate how many bins there are.
#include "ops/count/bin_edges.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "iruka/device.h"
#include "iruka/indexing.h"
#include "iruka/quantiles.h"
#include "iruka/statistics.h"
#include "ops/create/sequences.h"
#include "ops/device_scope.h"
#include "ops/functions.h"
#include "ops/listener.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

constexpr const char* kRules[] = {"auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"};

bool is_whole(const Scalar& number) { return number.kind() < Kind::floating; }

/// The first and the last edge, as scalars of x's dtype or as literals.
struct Limits {
  Scalar first, last;

  Limits(const Array& x, const BinRange& range) : first(0), last(1) {
    const char* what = "autodetected";
    if (range) {
      first = range->first, last = range->second, what = "supplied";
      if (first.as_double() > last.as_double()) throw ValueError("max must be larger than min in range parameter.");
    } else if (x.size() > 0) {
      first = min(x).item(), last = max(x).item();
    }
    if (!std::isfinite(first.as_double()) || !std::isfinite(last.as_double()))
      throw ValueError(std::string(what) + " range of [" + first.to_string() + ", " + last.to_string() +
                       "] is not finite");
    if (distance() != 0) return;
    first = moved(first, -0.5), last = moved(last, 0.5);
  }

  /// last - first; of integers exactly, where their dtype may be too small.
  double distance() const {
    if (is_whole(first) && is_whole(last)) return static_cast<double>(whole(last) - whole(first));
    const Scalar difference = last.as_double() - first.as_double();
    return first.weak() && last.weak() ? difference.as_double() : difference.as_element(computing()).as_double();
  }
  /// The dtype of the numbers between them, at least a float.
  Dtype computing() const {
    const Dtype dtype = promote(first.dtype(), last.dtype());
    return !is_inexact(dtype) ? Dtype::float64 : dtype == Dtype::bfloat16 ? Dtype::float32 : dtype;
  }

 private:
  static __int128 whole(const Scalar& number) {
    return number.dtype() == Dtype::uint64 ? __int128(number.as_uint64()) : __int128(number.as_int64());
  }
  static Scalar moved(const Scalar& number, double by) {
    const Scalar sum = number.as_double() + by;
    if (number.weak()) return sum;
    return sum.as_element(is_whole(number) ? Dtype::float64 : number.dtype());
  }
};

/// numpy.linspace of the limits.
Array even_edges(const Limits& limits, int64_t bins, std::optional<Dtype> dtype) {
  const DeviceScope on_host(cpu());
  const Dtype computing = limits.computing();
  const Array values =
      spaced(limits.first.as_element(computing), limits.last.as_element(computing), bins + 1, true, computing).values;
  return dtype ? cast(values, *dtype) : values;
}

Dtype dtype_of_edges(const Array& x, const Limits& limits) {
  Dtype dtype = x.dtype() == Dtype::bfloat16 ? Dtype::float32 : x.dtype();
  for (const Scalar& limit : {limits.first, limits.last})
    dtype = limit.weak() ? promote_weak(dtype, limit) : promote(dtype, limit.dtype());
  return is_inexact(dtype) ? dtype : promote(dtype, Dtype::float64);
}

double deviation_of(const Array& x) { return variance(x, {.root = true}).item().as_double(); }
double mean_of(const Array& x) { return mean(x).item().as_double(); }
double range_of(const Array& x) { return Limits(x, {}).distance(); }

/// A rule's width of bins for n elements.
class Widths {
 public:
  Widths(const Array& x, const Limits& limits)
      : x_(x), limits_(limits), n_(static_cast<double>(x.size())), range_(extent(x)) {}

  double of(BinRule rule) const {
    switch (rule) {
      case BinRule::sqrt: return range_ / std::sqrt(n_);
      case BinRule::sturges: return range_ / (std::log2(n_) + 1);
      case BinRule::rice: return range_ / (2 * std::pow(n_, 1.0 / 3));
      case BinRule::scott: return std::pow(24 * std::sqrt(std::numbers::pi) / n_, 1.0 / 3) * deviation_of(x_);
      case BinRule::doane: return doane();
      case BinRule::fd: return freedman_diaconis();
      case BinRule::stone: return stone();
      case BinRule::automatic: break;
    }
    return std::min(std::max(freedman_diaconis(), of(BinRule::sqrt) / 2), of(BinRule::sturges));
  }

 private:
  static double extent(const Array& x) {
    const Scalar first = min(x).item(), last = max(x).item();
    const bool is_point = first.as_complex() == last.as_complex();
    return is_point ? 0 : range_of(x);
  }

  double freedman_diaconis() const {
    const std::vector<double> found = percentile(x_, Array::from<double>({75, 25})).to_vector<double>();
    return 2 * (found[0] - found[1]) * std::pow(n_, -1.0 / 3);
  }

  double doane() const {
    if (n_ <= 2) return 0;
    const double deviation = deviation_of(x_);
    if (!(deviation > 0)) return 0;
    const Array x = x_.astype(Dtype::float64, false), normal = divide(subtract(x, mean_of(x)), deviation);
    const double skew = mean_of(multiply(multiply(normal, normal), normal));
    const double spread = std::sqrt(6 * (n_ - 2) / ((n_ + 1) * (n_ + 3)));
    return range_ / (1 + std::log2(n_) + std::log2(1 + std::abs(skew) / spread));
  }

  double stone() const {
    if (n_ <= 1 || range_ == 0) return 0;
    const int64_t most = std::max<int64_t>(100, static_cast<int64_t>(std::sqrt(n_)));
    int64_t best = 1;
    double least = INFINITY;
    for (int64_t bins = 1; bins <= most; ++bins) {
      const HistogramOptions options{.range = std::pair(limits_.first, limits_.last)};
      double squares = 0;
      for (const double count : histogram(x_, bins, options).counts.to_vector<double>())
        squares += count / n_ * (count / n_);
      const double error = (2 - (n_ + 1) * squares) * static_cast<double>(bins) / range_;
      if (error < least) least = error, best = bins;
    }
    if (best == most) warn("The number of bins estimated may be suboptimal.");
    return range_ / static_cast<double>(best);
  }

  const Array& x_;
  const Limits& limits_;
  const double n_, range_;
};

int64_t estimated_count(const Array& given, BinRule rule, const BinRange& range) {
  const Limits limits(given, range);
  Array x = given;
  if (range) {
    const Array keep = logical_and(greater_equal(x, limits.first), less_equal(x, limits.last));
    const AnyIndex mask[] = {keep};
    if (!all(keep).item().as_bool()) x = index(x, mask);
  }
  if (x.size() == 0) return 1;
  double width = Widths(x, limits).of(rule);
  if (width == 0) return 1;
  if (is_integer(x.dtype())) width = std::max(width, 1.0);
  return static_cast<int64_t>(std::ceil(limits.distance() / width));
}

Array given_edges(const Array& bins) {
  if (bins.ndim() != 1) throw ValueError("`bins` must be 1d, when an array");
  if (is_complex(bins.dtype())) throw TypeError("`bins` must be real numbers");
  const Array edges = bins.to_device(cpu());
  const int64_t n = edges.size();
  if (n > 1 && any(greater(cut(edges, 0, 0, n - 1), cut(edges, 0, 1, n))).item().as_bool())
    throw ValueError("`bins` must increase monotonically, when an array");
  return edges;
}

}  // namespace

BinRule parse_bin_rule(const std::string& name) {
  const auto* found = std::ranges::find(kRules, name);
  if (found == std::end(kRules)) throw ValueError("'" + name + "' is not a valid estimator for `bins`");
  return static_cast<BinRule>(found - std::begin(kRules));
}

namespace ops {

BinEdges bin_edges(const Array& x, const Bins& bins, const BinRange& range, bool weighted) {
  if (const Array* edges = std::get_if<Array>(&bins)) return {given_edges(*edges), false};
  int64_t count = 0;
  if (const BinRule* rule = std::get_if<BinRule>(&bins)) {
    if (weighted) throw TypeError("Automated estimation of the number of bins is not supported for weighted data");
    count = estimated_count(x, *rule, range);
  } else {
    count = std::get<int64_t>(bins);
  }
  if (count < 1) throw ValueError("`bins` must be positive, when an integer");
  const Limits limits(x, range);
  const Array edges = even_edges(limits, count, dtype_of_edges(x, limits));
  if (any(greater_equal(cut(edges, 0, 0, count), cut(edges, 0, 1, count + 1))).item().as_bool())
    throw ValueError("Too many bins for data range. Cannot create " + std::to_string(count) + " finite-sized bins.");
  return {edges, true};
}

BinEdges bin_edges_of_coordinate(int k, const Array& x, const Bins& bins, const BinRange& range) {
  if (const Array* edges = std::get_if<Array>(&bins)) return {given_edges(*edges), false};
  const int64_t* const count = std::get_if<int64_t>(&bins);
  if (!count) throw TypeError("`bins[" + std::to_string(k) + "]` must be an integer, when a scalar");
  if (*count < 1) throw ValueError("`bins[" + std::to_string(k) + "]` must be positive, when an integer");
  return {even_edges(Limits(x, range), *count, {}), true};
}

}  // namespace ops
}  // namespace iruka
