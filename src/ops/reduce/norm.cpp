// linalg.norm: vector norms and those matrix norms that need no decomposition, from rows of the tables.
#include <cmath>

#include "iruka/ops.h"

namespace iruka::linalg {
namespace {

const ReductionFunction kSumOfMagnitudes{"norm1"}, kRootOfSquares{"norm2"}, kNonzero{"count_nonzero"};

Dtype norm_dtype(Dtype dtype) { return kind(dtype) >= Kind::floating ? real_dtype(dtype) : Dtype::float64; }

Array power_norm(const Array& x, double order, const std::optional<Dims>& axes, bool keepdims) {
  const ElementwiseFunction absolute("absolute"), power("power");
  const Array magnitudes = absolute(x).astype(norm_dtype(x.dtype()), false);
  return power(sum(power(magnitudes, order), axes, keepdims), 1.0 / order);
}

/// The largest of magnitudes; 0 of none, as in NumPy.
Array largest(const Array& x, const std::optional<Dims>& axes, bool keepdims) {
  return x.size() > 0 ? max(x, axes, keepdims) : sum(x, axes, keepdims);
}

Array vector_norm(const Array& x, double order, const std::optional<Dims>& axes, bool keepdims) {
  if (order == 2) return kRootOfSquares(x, axes, keepdims);
  if (order == 1) return kSumOfMagnitudes(x, axes, keepdims);
  if (order == 0) return kNonzero(x, axes, keepdims).astype(norm_dtype(x.dtype()), false);
  if (std::isinf(order)) {
    const Array magnitudes = absolute(x).astype(norm_dtype(x.dtype()), false);
    return order > 0 ? largest(magnitudes, axes, keepdims) : min(magnitudes, axes, keepdims);
  }
  return power_norm(x, order, axes, keepdims);
}

/// Largest or smallest sum of magnitudes: of columns for order 1 and -1, of rows for inf and -inf.
Array matrix_norm(const Array& x, double order, const Dims& axes, bool keepdims) {
  const int row = normalize_axis("norm", axes[0], x.ndim());
  const int column = normalize_axis("norm", axes[1], x.ndim());
  if (row == column) throw ValueError("norm: duplicate axes given: " + to_string(axes));
  if (std::abs(order) != 1 && !std::isinf(order))
    throw ValueError("norm: invalid norm order " + Scalar(order).to_string() +
                     " for matrices; 1, -1, inf, -inf or none (Frobenius) are offered");
  const int summed = std::abs(order) == 1 ? row : column, compared = summed == row ? column : row;
  const Array sums = kSumOfMagnitudes(x, Dims{summed}, true);
  const Array result = order > 0 ? largest(sums, Dims{compared}, true) : min(sums, Dims{compared}, true);
  return keepdims ? result : result.squeeze(std::max(row, column)).squeeze(std::min(row, column));
}

}  // namespace

Array norm(const Array& x, std::optional<double> order, std::optional<Dims> axes, bool keepdims) {
  if (!order && (!axes || axes->size() <= 2)) return kRootOfSquares(x, axes, keepdims);
  const int rank = axes ? axes->size() : x.ndim();
  if (rank == 1) return vector_norm(x, order.value_or(2), axes, keepdims);
  if (rank != 2) throw ValueError("norm: improper number of dimensions to norm: " + std::to_string(rank));
  return matrix_norm(x, *order, axes.value_or(Dims{0, 1}), keepdims);
}

}  // namespace iruka::linalg
