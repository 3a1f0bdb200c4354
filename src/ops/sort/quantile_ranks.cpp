#include "ops/sort/quantile_ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace iruka {
namespace ops {
namespace {

constexpr std::pair<const char*, QuantileMethod> kMethods[] = {
    {"inverted_cdf", QuantileMethod::inverted_cdf},
    {"averaged_inverted_cdf", QuantileMethod::averaged_inverted_cdf},
    {"closest_observation", QuantileMethod::closest_observation},
    {"interpolated_inverted_cdf", QuantileMethod::interpolated_inverted_cdf},
    {"hazen", QuantileMethod::hazen},
    {"weibull", QuantileMethod::weibull},
    {"linear", QuantileMethod::linear},
    {"median_unbiased", QuantileMethod::median_unbiased},
    {"normal_unbiased", QuantileMethod::normal_unbiased},
    {"lower", QuantileMethod::lower},
    {"higher", QuantileMethod::higher},
    {"midpoint", QuantileMethod::midpoint},
    {"nearest", QuantileMethod::nearest},
};

double rounded(double value, Dtype dtype) { return Scalar(value).as_element(dtype).as_double(); }

/// A position among n sorted elements, from 0 on, or the rank of the element that a method picks.
struct Position {
  double index;
  bool is_rank = false;
};

/// Computes one position as NumPy does, which rounds to a dtype after each operation.
class Positions {
 public:
  Positions(Dtype share, Dtype position, QuantileMethod method) : share_(share), position_(position), method_(method) {}

  Position of(double n, double q) const {
    switch (method_) {
      case QuantileMethod::inverted_cdf:
        return picked(at(at(n) * q) - 1, [](double gamma, double) { return gamma == 0; });
      case QuantileMethod::closest_observation:
        return picked(at(at(n) * q) - 1.5,
                      [](double gamma, double index) { return gamma == 0 && std::fmod(std::floor(index), 2) == 1; });
      case QuantileMethod::averaged_inverted_cdf: return {at(at(at(n) * q) - 1)};
      case QuantileMethod::interpolated_inverted_cdf: return continuous(n, q, 0, 1);
      case QuantileMethod::hazen: return continuous(n, q, 0.5, 0.5);
      case QuantileMethod::weibull: return continuous(n, q, 0, 0);
      case QuantileMethod::median_unbiased: return continuous(n, q, 1.0 / 3, 1.0 / 3);
      case QuantileMethod::normal_unbiased: return continuous(n, q, 3.0 / 8, 3.0 / 8);
      case QuantileMethod::lower: return {std::floor(spread(n, q)), true};
      case QuantileMethod::higher: return {std::ceil(spread(n, q)), true};
      case QuantileMethod::midpoint: return {at(0.5 * at(std::floor(spread(n, q)) + std::ceil(spread(n, q))))};
      case QuantileMethod::nearest: return {std::nearbyint(spread(n, q)), true};
      default: return {spread(n, q), is_integer(share_) || share_ == Dtype::bool_};
    }
  }
  double distance(double index) const { return at(index - std::floor(index)); }

 private:
  double at(double value) const { return rounded(value, position_); }
  double of_share(double value) const { return rounded(value, share_); }
  double spread(double n, double q) const { return at(at(n - 1) * q); }
  Position continuous(double n, double q, double alpha, double beta) const {
    const double shift = of_share(of_share(alpha) + of_share(q * of_share(1 - alpha - beta)));
    return {at(at(at(at(n) * q) + shift) - 1)};
  }
  template <class TakesPrevious>
  Position picked(double exact, TakesPrevious takes_previous) const {
    const double index = at(exact), previous = std::floor(index);
    return {std::max(takes_previous(distance(index), index) ? previous : previous + 1, 0.0), true};
  }

  const Dtype share_, position_;
  const QuantileMethod method_;
};

double weight_of(QuantileMethod method, double gamma, double index) {
  if (method == QuantileMethod::averaged_inverted_cdf) return gamma == 0 ? 0.5 : 1;
  if (method == QuantileMethod::midpoint) return std::fmod(index, 1) == 0 ? 0 : 0.5;
  return gamma;
}

}  // namespace

Neighbours neighbours(const std::vector<int64_t>& counts, const Shares& shares, QuantileMethod method) {
  const bool is_whole = is_integer(shares.dtype) || shares.dtype == Dtype::bool_;
  const Positions positions(shares.dtype, is_whole ? Dtype::float64 : shares.dtype, method);
  Neighbours found;
  found.is_discrete = positions.of(1, 0).is_rank;
  for (const double q : shares.values) {
    for (const int64_t count : counts) {
      const double last = static_cast<double>(count - 1);
      const Position position = positions.of(static_cast<double>(count), q);
      if (found.is_discrete) {
        found.lower.push_back(static_cast<int64_t>(position.index));
        continue;
      }
      const double previous = std::floor(position.index);
      found.lower.push_back(static_cast<int64_t>(std::min(std::max(previous, 0.0), last)));
      found.upper.push_back(static_cast<int64_t>(std::min(std::max(previous + 1, 0.0), last)));
      // As in NumPy, the weight is the distance from the position searched for, also beyond the ends, where both
      // neighbours are equal.
      found.weight.push_back(weight_of(method, positions.distance(position.index), position.index));
    }
  }
  return found;
}

}  // namespace ops

QuantileMethod parse_quantile_method(const std::string& name) {
  std::string all;
  for (const auto& [method, value] : ops::kMethods) {
    if (name == method) return value;
    all += (all.empty() ? "" : ", ") + std::string(method);
  }
  throw ValueError("'" + name + "' is not a valid method. Use one of: " + all);
}

}  // namespace iruka
