// What follows from singular values, factorizations and products: pseudo-inverses, ranks, condition numbers, least
// squares, powers, chains of products, equations of tensors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "iruka/indexing.h"
#include "iruka/ops.h"
#include "iruka/rearranging.h"
#include "iruka/sorting.h"
#include "ops/checks.h"
#include "ops/functions.h"
#include "ops/linalg/operands.h"
#include "ops/views.h"

namespace iruka::linalg {
namespace {

using namespace ops;

Array inexact(const Array& x) { return is_inexact(x.dtype()) ? x : x.astype(Dtype::float64); }

double epsilon(Dtype dtype) {
  const bool is_single = real_dtype(dtype) == Dtype::float32;
  return is_single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

/// The larger extent of matrices times the precision of their elements: what rounding may leave of a 0.
double default_tolerance(const Array& a) {
  const Dtype dtype = linalg_dtype("svd", a.dtype());
  return static_cast<double>(std::max(a.shape(a.ndim() - 1), a.shape(a.ndim() - 2))) * epsilon(dtype);
}

/// An axis behind those of a number for each matrix, for its singular values.
Array one_a_matrix(const Array& x) { return x.expand_dims(x.ndim()); }

Array adjoint(const Array& a) { return conjugated(ops::matrix_transpose(a)); }

/// s times a tolerance, or tolerances, one a matrix.
Array relative_to(const Array& s, const Argument& tolerance) {
  return tolerance.is_array() ? multiply(s, one_a_matrix(tolerance.array())) : multiply(s, tolerance);
}

Array largest(const Array& s) { return max(s, Dims{-1}, true); }

/// 1 / s where s is over the cutoff, else 0.
Array reciprocals(const Array& s, const Array& cutoff) {
  const Array is_large = greater(s, cutoff);
  return where(is_large, divide(1.0, where(is_large, s, 1.0)), 0.0);
}

Array count_of_true(const Array& flags) { return ReductionFunction("count_nonzero")(flags, Dims{-1}); }

/// The inverse; infinities for singular matrices.
Array inverse_or_infinite(const Array& x) {
  try {
    return inv(x);
  } catch (const LinAlgError&) {
    if (x.ndim() > 2) {
      std::vector<Array> inverses;
      for (const Array& part : unstack(x)) inverses.push_back(inverse_or_infinite(part));
      return stack(inverses);
    }
    Array result = x.copy();
    result.fill(INFINITY);
    return result;
  }
}

/// Condition numbers of x: infinite where they are unknown although x has no NaN.
Array finite_or_infinite(const Array& x, const Array& numbers) {
  const Array has_nan = any(isnan(x), Dims{-2, -1});
  return where(logical_and(isnan(numbers), logical_not(has_nan)), static_cast<double>(INFINITY), numbers);
}

void check_cond(const Array& x) {
  check_matrices("cond", x);
  if (x.shape(x.ndim() - 1) == 0 || x.shape(x.ndim() - 2) == 0)
    throw LinAlgError("cond: cond is not defined on empty arrays");
}

template <class Norm>
Array cond_by(const Array& x, Norm norm_of) {
  check_cond(x);
  check_square("cond", x);
  return finite_or_infinite(x, multiply(norm_of(x), norm_of(inverse_or_infinite(x))));
}

/// Where to split each range of a chain of products, by dynamic programming over the extents (Cormen, Leiserson, Rivest
/// and Stein, "Introduction to Algorithms", 15.2).
class CheapestOrder {
 public:
  explicit CheapestOrder(std::span<const Array> chain) : chain_(chain), splits_(chain.size(), Row(chain.size())) {
    std::vector<double> extents{static_cast<double>(chain.front().shape(0))};
    for (const Array& matrix : chain) extents.push_back(static_cast<double>(matrix.shape(1)));
    std::vector<std::vector<double>> cost(chain.size(), std::vector<double>(chain.size()));
    for (size_t length = 1; length < chain.size(); ++length) {
      for (size_t i = 0; i + length < chain.size(); ++i) {
        const size_t j = i + length;
        cost[i][j] = INFINITY;
        for (size_t k = i; k < j; ++k) {
          const double sum = cost[i][k] + cost[k + 1][j] + extents[i] * extents[k + 1] * extents[j + 1];
          if (sum < cost[i][j]) cost[i][j] = sum, splits_[i][j] = k;
        }
      }
    }
  }

  Array product(size_t first, size_t last) const {
    if (first == last) return chain_[first];
    const size_t split = splits_[first][last];
    return matmul(product(first, split), product(split + 1, last));
  }

 private:
  using Row = std::vector<size_t>;
  std::span<const Array> chain_;
  std::vector<Row> splits_;
};

}  // namespace

SvdResult svd_hermitian(const Array& a, bool vectors) {
  check_square("svd", a);
  const EigenResult found = eigh(a, true, vectors);
  const Array sizes = absolute(found.values);
  const int last = sizes.ndim() - 1;
  if (!vectors) return {{}, reversed(sort(sizes), last), {}};
  const Array order = reversed(argsort(sizes), last);
  const Array u = take_along_axis(found.vectors, order.expand_dims(-2), -1);
  const Array is_negative = less(take_along_axis(found.values, order, -1).expand_dims(-2), 0);
  return {u, take_along_axis(sizes, order, -1), adjoint(where(is_negative, negative(u), u))};
}

Array svdvals(const Array& a) { return svd(a, false, false).s; }
Array eigvalsh(const Array& a, bool lower) { return eigh(a, lower, false).values; }
Array eigvals(const Array& a) { return eig(a, false).values; }

Array nuclear_norm(const Array& x, const Dims& named, bool keepdims) {
  const Dims axes = normalize_axes("norm", named, x.ndim());
  Array result = sum(svdvals(moveaxis(x, axes, {-2, -1})), Dims{-1});
  if (keepdims)
    for (const int64_t axis : {std::min(axes[0], axes[1]), std::max(axes[0], axes[1])})
      result = result.expand_dims(axis);
  return result;
}

Array vector_norm(const Array& x, double order, const std::optional<Dims>& named, bool keepdims) {
  const Dims axes = axes_or_all("vector_norm", named, x.ndim());
  if (axes.size() == 1) return norm(x, order, axes, keepdims);
  Dims places, shape = x.shape();
  for (int k = 0; k < axes.size(); ++k) places.push_back(k), shape[static_cast<int>(axes[k])] = 1;
  const Array front = moveaxis(x, axes, places);
  Dims flat{count(extents_of(x, axes))};
  for (int axis = axes.size(); axis < x.ndim(); ++axis) flat.push_back(front.shape(axis));
  const Array result = norm(front.reshape(flat), order, Dims{0});
  return keepdims ? result.reshape(shape) : result;
}

Array matrix_norm(const Array& x, std::optional<double> order, bool keepdims) {
  check_matrices("matrix_norm", x);
  return norm(x, order, Dims{-2, -1}, keepdims);
}

Array cond(const Array& given, std::optional<double> order) {
  check_cond(given);
  const Array x = inexact(given);
  if (order && std::abs(*order) != 2) return cond_by(x, [&](const Array& y) { return norm(y, order, Dims{-2, -1}); });
  const Array s = svdvals(x);
  const int last = s.ndim() - 1;
  const Array first = slice_at(s, last, 0), least = slice_at(s, last, s.shape(last) - 1);
  return finite_or_infinite(x, order == -2.0 ? divide(least, first) : divide(first, least));
}

Array frobenius_cond(const Array& x) {
  return cond_by(inexact(x), [](const Array& y) { return norm(y, {}, Dims{-2, -1}); });
}

Array nuclear_cond(const Array& x) {
  return cond_by(inexact(x), [](const Array& y) { return nuclear_norm(y); });
}

Array matrix_power(const Array& given, int64_t power) {
  check_square("matrix_power", given);
  if (power == 0) {
    Array result = Array::empty(given.shape(), given.dtype(), given.device());
    result.fill(0);
    diagonal(result, 0, -2, -1).fill(1);
    return result;
  }
  Array a = power < 0 ? inv(given) : given, result;
  for (uint64_t rest = power < 0 ? -static_cast<uint64_t>(power) : static_cast<uint64_t>(power);;) {
    if (rest & 1) result = result.valid() ? matmul(result, a) : a;
    rest >>= 1;
    if (rest == 0) break;
    a = matmul(a, a);
  }
  return result.buffer() == given.buffer() ? result.copy() : result;
}

Array pinv(const Array& given, const std::optional<Argument>& tolerance, bool hermitian) {
  check_matrices("pinv", given);
  const Array a = inexact(given);
  if (a.size() == 0) {
    Dims shape = a.shape();
    std::swap(shape[a.ndim() - 1], shape[a.ndim() - 2]);
    const bool has_elements = shape[a.ndim() - 1] != 0 && shape[a.ndim() - 2] != 0;
    return Array::empty(shape, has_elements ? a.dtype() : given.dtype(), a.device());
  }
  const SvdResult parts = hermitian ? svd_hermitian(a) : svd(a, false);
  const Argument relative = tolerance ? *tolerance : Argument(default_tolerance(a));
  const Array weights = reciprocals(parts.s, relative_to(largest(parts.s), relative));
  return matmul(adjoint(parts.vh), multiply(weights.expand_dims(-1), adjoint(parts.u)));
}

Array matrix_rank(const Array& given, const RankOptions& options) {
  if (options.tolerance && options.relative_tolerance)
    throw ValueError("matrix_rank: `tol` and `rtol` can't be both set.");
  const Array a = inexact(given);
  if (a.ndim() < 2) return any(not_equal(a, 0)).astype(Dtype::int64);
  const Array s = options.hermitian ? svd_hermitian(a, false).s : svdvals(a);
  if (options.tolerance) {
    const Argument& limit = *options.tolerance;
    return count_of_true(limit.is_array() ? greater(s, one_a_matrix(limit.array())) : greater(s, limit));
  }
  if (s.shape(s.ndim() - 1) == 0) return count_of_true(greater(s, 0.0));
  const Argument relative = options.relative_tolerance ? *options.relative_tolerance : Argument(default_tolerance(a));
  return count_of_true(greater(s, relative_to(largest(s), relative)));
}

LeastSquares lstsq(const Array& a, const Array& b, std::optional<double> tolerance) {
  check_matrices("lstsq", a);
  if (a.ndim() != 2 || (b.ndim() != 1 && b.ndim() != 2))
    throw LinAlgError("lstsq: two-dimensional arrays are needed, not shapes " + to_string(a.shape()) + " and " +
                      to_string(b.shape()));
  if (a.shape(0) != b.shape(0))
    throw LinAlgError("lstsq: Incompatible dimensions: " + std::to_string(a.shape(0)) + " and " +
                      std::to_string(b.shape(0)) + " rows");
  const Dtype dtype = promote(linalg_dtype("lstsq", a.dtype()), linalg_dtype("lstsq", b.dtype()));
  const Array matrix = a.astype(dtype, false), sides = (b.ndim() == 1 ? b.expand_dims(1) : b).astype(dtype, false);
  const int64_t m = a.shape(0), n = a.shape(1);
  const SvdResult parts = svd(matrix, false);
  LeastSquares result;
  result.singular_values = parts.s;
  Array weights = parts.s;
  if (parts.s.size() > 0) {
    // Outside (0, 1) LAPACK uses the epsilon.
    const bool is_share = tolerance && *tolerance > 0 && *tolerance < 1;
    const double relative = !tolerance ? default_tolerance(matrix) : is_share ? *tolerance : epsilon(dtype);
    const Array limit = multiply(largest(parts.s), relative);
    result.rank = count_of_true(greater(parts.s, limit)).item().as_int64();
    weights = reciprocals(parts.s, limit);
  }
  const Array x = matmul(adjoint(parts.vh), multiply(weights.expand_dims(1), matmul(adjoint(parts.u), sides)));
  result.x = b.ndim() == 1 ? slice_at(x, 1, 0) : x;
  result.residuals = result.rank == n && m > n ? sum(square(absolute(subtract(sides, matmul(matrix, x)))), Dims{0})
                                               : Array::empty({0}, parts.s.dtype(), a.device());
  return result;
}

Array tensorsolve(const Array& given, const Array& b, const std::optional<Dims>& axes) {
  Array a = given;
  if (axes) {
    const Dims moved = normalize_axes("tensorsolve", *axes, a.ndim());
    Dims places;
    for (int k = 0; k < moved.size(); ++k) places.push_back(a.ndim() - moved.size() + k);
    a = moveaxis(a, moved, places);
  }
  Dims shape;
  for (int axis = std::min(b.ndim(), a.ndim()); axis < a.ndim(); ++axis) shape.push_back(a.shape(axis));
  const int64_t n = count(shape);
  if (b.size() != n || static_cast<__int128>(n) * n != a.size())
    throw LinAlgError("tensorsolve: Input arrays must satisfy prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]): " +
                      to_string(a.shape()) + ", " + to_string(b.shape()));
  return solve(a.reshape({n, n}), b.ravel()).reshape(shape);
}

Array tensorinv(const Array& a, int64_t count_of_rows) {
  if (count_of_rows <= 0) throw ValueError("tensorinv: Invalid ind argument " + std::to_string(count_of_rows) + ".");
  Dims rows, columns, shape;
  for (int axis = 0; axis < a.ndim(); ++axis) (axis < count_of_rows ? rows : columns).push_back(a.shape(axis));
  for (const Dims* extents : {&columns, &rows})
    for (const int64_t extent : *extents) shape.push_back(extent);
  return inv(a.reshape({count(rows), count(columns)})).reshape(shape);
}

Array multi_dot(std::span<const Array> arrays) {
  if (arrays.size() < 2) throw ValueError("multi_dot: Expecting at least two arrays.");
  std::vector<Array> chain(arrays.begin(), arrays.end());
  const bool is_row = chain.front().ndim() == 1, is_column = chain.back().ndim() == 1;
  if (is_row) chain.front() = chain.front().expand_dims(0);
  if (is_column) chain.back() = chain.back().expand_dims(1);
  Dims ranks;
  for (const Array& matrix : chain) ranks.push_back(matrix.ndim());
  if (!std::ranges::all_of(ranks, [](int64_t rank) { return rank == 2; }))
    throw LinAlgError("multi_dot: arrays must be two-dimensional, not of " + to_string(ranks) + " axes");
  Array result = CheapestOrder(chain).product(0, chain.size() - 1);
  if (is_row) result = slice_at(result, 0, 0);
  return is_column ? slice_at(result, result.ndim() - 1, 0) : result;
}

}  // namespace iruka::linalg
