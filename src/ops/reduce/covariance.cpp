// Weighted means, covariances and correlations.
#include <algorithm>
#include <vector>

#include "iruka/device.h"
#include "iruka/linalg.h"
#include "iruka/statistics.h"
#include "ops/checks.h"
#include "ops/functions.h"
#include "ops/listener.h"
#include "ops/reduce/weights.h"
#include "ops/views.h"

namespace iruka {
namespace ops {

Array weights_along(const Array& x, const Array& weights, const std::optional<Dims>& named) {
  if (weights.shape() == x.shape()) return weights;
  if (!named) throw TypeError("Axis must be specified when shapes of a and weights differ.");
  const Dims axes = normalize_axes("average", *named, x.ndim());
  Dims shape(x.ndim(), 1);
  if (!(weights.shape() == extents_of(x, axes)))
    throw ValueError("Shape of weights must be consistent with shape of a along specified axis.");
  std::vector<int64_t> order(static_cast<size_t>(axes.size()));
  for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int64_t>(k);
  std::ranges::sort(order, {}, [&](int64_t k) { return axes[static_cast<int>(k)]; });
  for (const int64_t axis : axes) shape[static_cast<int>(axis)] = x.shape(static_cast<int>(axis));
  return weights.transpose(Dims(order.data(), axes.size())).reshape(shape);
}

}  // namespace ops

namespace {

using namespace ops;

/// Variables as rows of `dtype`.
Array observations(const char* name, const Array& x, Dtype dtype) {
  if (x.ndim() > 2) throw ValueError(std::string(name) + " has more than 2 dimensions");
  const Array cast_x = cast(x, dtype);
  return x.ndim() < 2 ? cast_x.reshape({1, -1}) : cast_x;
}

Array checked_weights(const char* name, const Array& given, int64_t count, bool whole) {
  const Array weights = given.astype(Dtype::float64);
  if (whole && !all(equal(weights, rint(weights))).item().as_bool())
    throw TypeError(std::string(name) + " must be integer");
  if (weights.ndim() > 1) throw ShapeError(std::string("cannot handle multidimensional ") + name);
  if (!(weights.shape() == Dims{count})) throw ShapeError(std::string("incompatible numbers of samples and ") + name);
  if (any(less(weights, 0)).item().as_bool()) throw ValueError(std::string(name) + " cannot be negative");
  return weights;
}

/// What each observation counts; an invalid array where all count alike.
Array observation_weights(const CovarianceOptions& options, int64_t count) {
  Array weights;
  if (options.fweights) weights = checked_weights("fweights", *options.fweights, count, true);
  if (!options.aweights) return weights;
  const Array own = checked_weights("aweights", *options.aweights, count, false);
  return weights.valid() ? multiply(weights, own) : own;
}

/// By what the sums of products are divided.
double divisor(const CovarianceOptions& options, const Array& weights, int64_t count) {
  const auto correction = static_cast<double>(options.correction);
  if (!weights.valid()) return static_cast<double>(count) - correction;
  const double total = sum(weights).item().as_double();
  if (!options.aweights || options.correction == 0) return total - correction;
  return total - correction * sum(multiply(weights, *options.aweights)).item().as_double() / total;
}

/// Real and imaginary parts within [-1, 1].
Array within_one(const Array& x) {
  if (!is_complex(x.dtype())) return clip(x, -1.0, 1.0);
  return add(clip(real(x), -1.0, 1.0), multiply(clip(imag(x), -1.0, 1.0), std::complex<double>(0, 1)));
}

}  // namespace

WeightedMean average(const Array& x, const Array& given, const std::optional<Dims>& axes, bool keepdims) {
  const Array weights = weights_along(x, given, axes);
  Dtype dtype = promote(x.dtype(), weights.dtype());
  if (!is_inexact(x.dtype())) dtype = promote(dtype, Dtype::float64);
  const Array total = sum(weights, axes, keepdims, dtype);
  if (any(equal(total, 0)).item().as_bool()) throw ZeroWeightsError("Weights sum to zero, can't be normalized");
  const Argument both[] = {x, weights};
  const Array products = multiply.call(both, {.dtype = dtype}).front();
  return {divide(sum(products, axes, keepdims), total), total};
}

Array cov(const Array& given, const CovarianceOptions& options) {
  Dtype dtype = promote(given.dtype(), Dtype::float64);
  if (options.y) dtype = promote(dtype, options.y->dtype());
  dtype = options.dtype.value_or(dtype);
  Array x = observations("m", given, dtype);
  if (!options.rowvar && given.ndim() != 1) x = x.transpose();
  if (x.shape(0) == 0) return Array::empty({0, 0}, Dtype::float64, x.device());
  if (options.y) {
    const Array y = observations("y", *options.y, dtype);
    const Array both[] = {x, !options.rowvar && y.shape(0) != 1 ? y.transpose() : y};
    x = concatenate(both, 0);
  }
  const Array weights = observation_weights(options, x.shape(1));
  const Array middle = weights.valid() ? average(x, weights, Dims{1}, true).mean : mean(x, Dims{1}, true);
  double factor = divisor(options, weights, x.shape(1));
  if (factor <= 0) {
    warn("Degrees of freedom <= 0 for slice");
    factor = 0;
  }
  x = subtract(x, middle);
  const Array weighted = weights.valid() ? multiply(x, weights.astype(x.dtype(), false)) : x;
  const Array products = matmul(x, conjugated(weighted).transpose());
  return divide(products, factor).squeeze();
}

Array corrcoef(const Array& x, const CovarianceOptions& options) {
  Array products = cov(x, options);
  if (products.ndim() == 0) return divide(products, products);
  const int64_t count = products.shape(0);
  const Array deviations = sqrt(real(cut(products.ravel(), 0, 0, products.size(), count + 1)));
  products = divide(divide(products, deviations.reshape({-1, 1})), deviations.reshape({1, -1}));
  return within_one(products);
}

}  // namespace iruka
