// Products of vectors, matrices and arrays, made of matmul and of elementwise functions.
#include "iruka/products.h"

#include <algorithm>
#include <optional>

#include "iruka/indexing.h"
#include "iruka/linalg.h"
#include "iruka/rearranging.h"
#include "ops/checks.h"
#include "ops/functions.h"
#include "ops/linalg/operands.h"
#include "ops/views.h"

namespace iruka {
namespace ops {

Array sum_in_own_dtype(const Array& x, const Dims& axes) {
  return x.dtype() == Dtype::bool_ ? any(x, axes) : sum(x, axes, false, x.dtype());
}

}  // namespace ops

namespace {

using namespace ops;

Array scaled(const Array& a, const Array& b) {
  const Argument both[] = {a, b};
  return multiply.call(both, {.order = MemoryOrder::c}).front();
}

/// An array as one matrix: the axes in `rows`, then those in `columns`.
Array as_matrix(const Array& x, const Dims& rows, const Dims& columns) {
  Dims order = rows;
  for (const int64_t axis : columns) order.push_back(axis);
  return x.transpose(order).reshape({count(extents_of(x, rows)), count(extents_of(x, columns))});
}

Dims other_axes(const Dims& axes, int ndim) {
  Dims others;
  for (int axis = 0; axis < ndim; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  return others;
}

void check_ranks(const char* function, const Array& a, int least_a, const Array& b, int least_b) {
  if (a.ndim() >= least_a && b.ndim() >= least_b) return;
  const char* const needed = least_a > least_b   ? ": a matrix and a vector are needed, not shapes "
                             : least_a < least_b ? ": a vector and a matrix are needed, not shapes "
                                                 : ": each operand needs an axis: shapes ";
  throw ShapeError(function + (needed + to_string(a.shape())) + " and " + to_string(b.shape()));
}

/// Components of vectors along the last axis, of 2 or 3 elements, where the third is 0 if there are only two.
class Determinants {
 public:
  Determinants(const Array& a, const Array& b) : a_(a), b_(b) {}

  /// a[i] * b[j] - a[j] * b[i], into `out` if it is given.
  Array operator()(int i, int j, const Array* out = nullptr) const {
    const std::optional<Array> plus = product(i, j), minus = product(j, i);
    if (plus && minus) return out ? subtract(*plus, *minus, *out) : subtract(*plus, *minus);
    const Array result = plus ? *plus : negative(*minus);
    if (out) Array(*out).assign(result);
    return result;
  }

 private:
  std::optional<Array> product(int i, int j) const {
    const int last_a = a_.ndim() - 1, last_b = b_.ndim() - 1;
    if (i >= a_.shape(last_a) || j >= b_.shape(last_b)) return {};
    return multiply(slice_at(a_, last_a, i), slice_at(b_, last_b, j));
  }

  const Array &a_, &b_;
};

}  // namespace

Array dot(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0) return scaled(a, b);
  if (b.ndim() <= 2) return matmul(a, b);
  return tensordot(a, b, {a.ndim() - 1}, {b.ndim() - 2});
}

Array inner(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0) return scaled(a, b);
  if (a.ndim() == 1 && b.ndim() == 1 && a.size() == b.size()) return matmul(a, b);
  return tensordot(a, b, {a.ndim() - 1}, {b.ndim() - 1});
}

Array vdot(const Array& a, const Array& b) {
  if (a.size() != b.size())
    throw ShapeError("vdot: cannot multiply " + std::to_string(a.size()) + " by " + std::to_string(b.size()) +
                     " elements");
  return matmul(conjugated(a.ravel()), b.ravel());
}

Array outer(const Array& a, const Array& b) { return multiply(a.reshape({-1, 1}), b.reshape({1, -1})); }

Array vecdot(const Array& a, const Array& b, int64_t axis) {
  check_ranks("vecdot", a, 1, b, 1);
  const Array x = moveaxis(a, {axis}, {-1}), y = moveaxis(b, {axis}, {-1});
  const int64_t extent = x.shape(x.ndim() - 1);
  if (extent != y.shape(y.ndim() - 1))
    throw ShapeError("vecdot: the extents along the axis differ: " + std::to_string(extent) + " and " +
                     std::to_string(y.shape(y.ndim() - 1)));
  if (x.ndim() == 1 && y.ndim() == 1) return matmul(conjugated(x), y);
  return sum_in_own_dtype(multiply(conjugated(x), y), {-1});
}

Array matvec(const Array& matrices, const Array& vectors) {
  check_ranks("matvec", matrices, 2, vectors, 1);
  const Array product = matmul(matrices, vectors.expand_dims(-1));
  return slice_at(product, product.ndim() - 1, 0);
}

Array vecmat(const Array& vectors, const Array& matrices) {
  check_ranks("vecmat", vectors, 1, matrices, 2);
  const Array product = matmul(conjugated(vectors).expand_dims(-2), matrices);
  return slice_at(product, product.ndim() - 2, 0);
}

Array tensordot(const Array& a, const Array& b, int64_t count) {
  if (count > a.ndim()) throw AxisError("tensordot", -count, a.ndim());
  Dims last, first;
  for (int64_t k = 0; k < count; ++k) {
    last.push_back(k - count);
    first.push_back(k);
  }
  return tensordot(a, b, last, first);
}

Array tensordot(const Array& a, const Array& b, const Dims& axes_a, const Dims& axes_b) {
  if (axes_a.size() != axes_b.size())
    throw ValueError("tensordot: shape-mismatch for sum: " + std::to_string(axes_a.size()) + " and " +
                     std::to_string(axes_b.size()) + " axes");
  const Dims summed_a = normalize_axes("tensordot", axes_a, a.ndim());
  const Dims summed_b = normalize_axes("tensordot", axes_b, b.ndim());
  if (!(extents_of(a, summed_a) == extents_of(b, summed_b)))
    throw ShapeError("tensordot: shape-mismatch for sum: " + to_string(a.shape()) + " over " + to_string(summed_a) +
                     " and " + to_string(b.shape()) + " over " + to_string(summed_b));
  const Dims kept_a = other_axes(summed_a, a.ndim()), kept_b = other_axes(summed_b, b.ndim());
  Dims shape = extents_of(a, kept_a);
  for (const int64_t extent : extents_of(b, kept_b)) shape.push_back(extent);
  return matmul(as_matrix(a, kept_a, summed_a), as_matrix(b, summed_b, kept_b)).reshape(shape);
}

Array kron(const Array& a, const Array& b) {
  const int ndim = std::max(a.ndim(), b.ndim());
  const Array x = with_axes_in_front(a, ndim), y = with_axes_in_front(b, ndim);
  Dims left, right, shape;
  for (int axis = 0; axis < ndim; ++axis) {
    left.push_back(x.shape(axis)), left.push_back(1);
    right.push_back(1), right.push_back(y.shape(axis));
  }
  const Array product = multiply(x.reshape(left), y.reshape(right));
  for (int axis = 0; axis < ndim; ++axis) shape.push_back(x.shape(axis) * y.shape(axis));
  return product.reshape(shape);
}

Array cross(const Array& a, const Array& b, int64_t axis_a, int64_t axis_b, int64_t axis) {
  if (a.ndim() == 0 || b.ndim() == 0) throw ShapeError("cross: at least one array has zero dimension");
  const Array x = moveaxis(a, {axis_a}, {-1}), y = moveaxis(b, {axis_b}, {-1});
  const int64_t extents[] = {x.shape(x.ndim() - 1), y.shape(y.ndim() - 1)};
  if (!std::ranges::all_of(extents, [](int64_t extent) { return extent == 2 || extent == 3; }))
    throw ValueError("cross: vectors must have 2 or 3 elements, not " + std::to_string(extents[0]) + " and " +
                     std::to_string(extents[1]));
  const Determinants determinant(x, y);
  if (extents[0] == 2 && extents[1] == 2) return determinant(0, 1);
  const Dims batch_a(x.shape().begin(), x.ndim() - 1), batch_b(y.shape().begin(), y.ndim() - 1);
  const Dims* const both[] = {&batch_a, &batch_b};
  Dims shape = broadcast_shapes(both);
  shape.push_back(3);
  const Array result = Array::empty(shape, promote(a.dtype(), b.dtype()), a.device());
  for (int k = 0; k < 3; ++k) {
    const Array component = slice_at(result, result.ndim() - 1, k);
    determinant((k + 1) % 3, (k + 2) % 3, &component);
  }
  return moveaxis(result, {-1}, {axis});
}

}  // namespace iruka
