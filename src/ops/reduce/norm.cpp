// linalg.norm: norms of vectors and matrices, from rows of the tables and singular values.
#include <cmath>

#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "iruka/rearranging.h"
#include "iruka/statistics.h"
#include "ops/checks.h"

namespace iruka::linalg {
namespace {

const ReductionFunction kSumOfMagnitudes{"norm1"}, kRootOfSquares{"norm2"}, kNonzero{"count_nonzero"};

Dtype norm_dtype(Dtype dtype) { return is_inexact(dtype) ? real_dtype(dtype) : Dtype::float64; }

Array power_norm(const Array& x, double order, const std::optional<Dims>& axes, bool keepdims) {
  const ElementwiseFunction absolute("absolute"), power("power");
  const Array magnitudes = absolute(x).astype(norm_dtype(x.dtype()), false);
  return power(sum(power(magnitudes, order), axes, keepdims), 1.0 / order);
}

/// The largest of magnitudes; 0 of none, as in NumPy.
Array largest(const Array& x, const std::optional<Dims>& axes, bool keepdims) {
  return x.size() > 0 ? max(x, axes, keepdims) : sum(x, axes, keepdims);
}

Array norm_along(const Array& x, double order, const Dims& axes, bool keepdims) {
  if (order == 2) return kRootOfSquares(x, axes, keepdims);
  if (order == 1) return kSumOfMagnitudes(x, axes, keepdims);
  if (order == 0) return kNonzero(x, axes, keepdims).astype(norm_dtype(x.dtype()), false);
  if (std::isinf(order)) {
    const Array magnitudes = absolute(x).astype(norm_dtype(x.dtype()), false);
    return order > 0 ? largest(magnitudes, axes, keepdims) : min(magnitudes, axes, keepdims);
  }
  return power_norm(x, order, axes, keepdims);
}

/// Largest singular value for order 2, smallest for -2.
Array singular_norm(const Array& x, double order, const Dims& axes) {
  const Array values = svdvals(moveaxis(x, axes, {-2, -1}));
  if (order < 0) return min(values, Dims{-1});
  return reduce(max, values, {.axes = Dims{-1}, .initial = Scalar(0.0)});
}

/// Largest or smallest sum of magnitudes: of columns for order 1 and -1, of rows for inf and -inf.
Array largest_sum(const Array& x, double order, const Dims& axes) {
  const int row = static_cast<int>(axes[0]), column = static_cast<int>(axes[1]);
  const int summed = std::abs(order) == 1 ? row : column, compared = summed == row ? column : row;
  const Array sums = kSumOfMagnitudes(x, Dims{summed}, true);
  const Array result = order > 0 ? largest(sums, Dims{compared}, true) : min(sums, Dims{compared}, true);
  return result.squeeze(std::max(row, column)).squeeze(std::min(row, column));
}

Array norm_over(const Array& x, double order, const Dims& axes, bool keepdims) {
  if (std::abs(order) != 1 && std::abs(order) != 2 && !std::isinf(order))
    throw ValueError("norm: Invalid norm order " + Scalar(order).to_string() +
                     " for matrices; 1, -1, 2, -2, inf, -inf or none (Frobenius) are offered");
  Array result = std::abs(order) == 2 ? singular_norm(x, order, axes) : largest_sum(x, order, axes);
  if (keepdims)
    for (const int64_t axis : {std::min(axes[0], axes[1]), std::max(axes[0], axes[1])})
      result = result.expand_dims(axis);
  return result;
}

/// Of all elements, as of one long vector.
Array norm_of_all(const Array& x, bool keepdims) {
  if (x.ndim() <= 2) return kRootOfSquares(x, {}, keepdims);
  const Array result = kRootOfSquares(x.ravel(), {}, false);
  return keepdims ? result.reshape(Dims(x.ndim(), 1)) : result;
}

}  // namespace

Array norm(const Array& given, std::optional<double> order, std::optional<Dims> named, bool keepdims) {
  const Array x = is_inexact(given.dtype()) ? given : given.astype(Dtype::float64);
  if (!named && !order) return norm_of_all(x, keepdims);
  const Dims axes = ops::axes_or_all("norm", named, x.ndim());
  if (axes.size() == 1) return norm_along(x, order.value_or(2), axes, keepdims);
  if (axes.size() != 2)
    throw ValueError("norm: Improper number of dimensions to norm: " + std::to_string(axes.size()) +
                     "; orders need one or two axes");
  return order ? norm_over(x, *order, axes, keepdims) : kRootOfSquares(x, axes, keepdims);
}

}  // namespace iruka::linalg
