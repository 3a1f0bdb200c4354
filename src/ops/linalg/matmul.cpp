// matmul: determines dtypes, passes operands to the library without a copy if possible, merges batches.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "core/linear_algebra.h"
#include "iruka/ops.h"
#include "ops/checks.h"
#include "ops/elementwise/cast_text.h"
#include "ops/linalg/operands.h"
#include "ops/listener.h"

namespace iruka {
namespace ops {
namespace {

Dims leading(const Dims& shape) { return Dims(shape.begin(), shape.size() - 2); }

Dims with_matrix(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

/// Elements from matrix to matrix when that is one number for all leading axes; no value where it is not.
std::optional<int64_t> batch_stride(const Array& x) {
  int64_t stride = 0, expected = 0;
  bool first = true;
  for (int axis = x.ndim() - 3; axis >= 0; --axis) {
    if (x.shape(axis) == 1) continue;
    if (first) stride = x.strides()[axis];
    if (!first && x.strides()[axis] != expected) return {};
    first = false;
    expected = x.strides()[axis] * x.shape(axis);
  }
  if (stride < 0 || stride % x.itemsize() != 0) return {};
  return stride / x.itemsize();
}

/// How a library walks matrices whose rows are dense, in elements from row to row; 0 where they are not.
int64_t leading_of(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride, int64_t itemsize) {
  if (columns > 1 && column_stride != itemsize) return 0;
  if (rows <= 1) return std::max<int64_t>(columns, 1);
  if (row_stride % itemsize != 0 || row_stride / itemsize < std::max<int64_t>(columns, 1)) return 0;
  return row_stride / itemsize;
}

/// The transpose of x as the operand of a column-major library; copied if x is neither in C nor in Fortran order.
MatrixOperand transposed_operand(Array& x) {
  for (bool copied = false;; copied = true) {
    const int row = x.ndim() - 2, column = row + 1;
    const int64_t rows = x.shape(row), columns = x.shape(column), size = x.itemsize();
    const std::optional<int64_t> batch = batch_stride(x);
    if (const int64_t ld = leading_of(rows, columns, x.strides()[row], x.strides()[column], size); batch && ld)
      return {x.data(), Transpose::no, ld, *batch};
    if (const int64_t ld = leading_of(columns, rows, x.strides()[column], x.strides()[row], size); batch && ld)
      return {x.data(), Transpose::yes, ld, *batch};
    if (copied) throw ValueError("matmul: internal error: a dense copy is not dense");
    x = x.copy();
  }
}

StridedOperand strided_operand(Array& x) {
  const auto element_strides = [](const Array& y) {
    return std::ranges::all_of(y.strides(), [&](int64_t s) { return s % y.itemsize() == 0; });
  };
  if (!batch_stride(x) || !element_strides(x)) x = x.copy();
  const int64_t size = x.itemsize();
  return {x.data(), x.strides()[x.ndim() - 2] / size, x.strides()[x.ndim() - 1] / size, *batch_stride(x)};
}

/// `c`, C-contiguous, = a b; all have the same leading axes and dtype, but that `c` may be the wide one of narrow
/// floats.
void multiply_into(const Array& c, Array a, Array b) {
  const int64_t m = a.shape(a.ndim() - 2), k = a.shape(a.ndim() - 1), n = b.shape(b.ndim() - 1), batch = batch_of(c);
  const bool is_bool = c.dtype() == Dtype::bool_;
  if (is_bool || is_integer(c.dtype())) {
    const StridedOperand left = strided_operand(a), right = strided_operand(b);
    const StridedProduct product{static_cast<int>(c.itemsize()), m, n, k, batch, left, right, c.data(), is_bool};
    const ExactProducts& exact = c.device().service<ExactProducts>();
    return (is_bool ? exact.multiply_bools : exact.multiply_integers)(c.device(), product);
  }
  if (const SmallMatrices* const small = small_product(c.device(), a.dtype(), m, n, k)) {
    const StridedOperand left = strided_operand(a), right = strided_operand(b);
    return small->multiply(c, {static_cast<int>(c.itemsize()), m, n, k, batch, left, right, c.data()});
  }
  const MatrixOperand left = transposed_operand(a), right = transposed_operand(b);
  c.device().service<LinearAlgebra>().multiply({a.dtype(), c.dtype(), n, m, k, batch, right, left, c.data()});
}

Dtype computing_dtype_cpu(Dtype dtype, int64_t, int64_t, int64_t) { return is_half(dtype) ? Dtype::float32 : dtype; }

/// Counts of true pairs are exact enough in float32: they are never 0 by rounding. Of small matrices the conversions
/// would take longer than the product.
Dtype computing_dtype_cuda(Dtype dtype, int64_t m, int64_t n, int64_t k) {
  constexpr double kSmall = 1 << 20;
  return dtype == Dtype::bool_ && static_cast<double>(m) * n * k > kSmall ? Dtype::float32 : dtype;
}

constexpr ExactProducts kCpu{multiply_integers_cpu, multiply_bools_cpu, computing_dtype_cpu};
constexpr ExactProducts kCuda{multiply_integers_cuda, multiply_integers_cuda, computing_dtype_cuda};

Array as_matrices(const Array& x, const Dims& batch) {
  const Dims shape = with_matrix(batch, x.shape(x.ndim() - 2), x.shape(x.ndim() - 1));
  return x.shape() == shape ? x : x.broadcast_to(shape);
}

/// The product of arrays of two axes at least, computed in `dtype` and returned in `result_dtype`.
Array product(const Array& a, const Array& b, Dtype dtype, Dtype result_dtype, const Array* out) {
  const Dims batch_a = leading(a.shape()), batch_b = leading(b.shape());
  const int64_t m = a.shape(a.ndim() - 2), k = a.shape(a.ndim() - 1), n = b.shape(b.ndim() - 1);
  const Dims* both[] = {&batch_a, &batch_b};
  const Dims batch = broadcast_shapes(both), shape = with_matrix(batch, m, n);
  // Rows of all matrices are rows of one where they meet the same second matrix.
  if (b.ndim() == 2 && a.ndim() > 2 && a.is_c_contiguous() && a.size() > 0) {
    Array flat_out;
    if (out) flat_out = out->reshape({-1, n});
    return product(a.reshape({-1, k}), b, dtype, result_dtype, out ? &flat_out : nullptr).reshape(shape);
  }
  const Dtype computed = a.device().service<ExactProducts>().computing_dtype(dtype, m, n, k);
  const Dtype stored = computed == dtype ? result_dtype : computed;
  Array result = out && stored == result_dtype ? *out : Array::empty(shape, stored, a.device());
  if (result.size() > 0 && k == 0) {
    result.fill(0);
  } else if (result.size() > 0) {
    multiply_into(result, as_matrices(a.astype(computed, false), batch), as_matrices(b.astype(computed, false), batch));
  }
  if (!out || stored == result_dtype) return result.astype(result_dtype, false);
  Array target = *out;
  target.assign(result);
  return target;
}

[[noreturn]] void raise_mismatch(const Array& a, const Array& b) {
  throw ShapeError(
      "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
      "(n?,k),(k,m?)->(n?,m?): shapes " +
      to_string(a.shape()) + " and " + to_string(b.shape()));
}

void check_cast(const Array& out, Dtype dtype) {
  if (!can_cast_same_kind(dtype, out.dtype()))
    throw TypeError(std::string("matmul: cannot cast the result from ") + name(dtype) + " to " + name(out.dtype()) +
                    " by the rule 'same_kind'");
}

/// `is_wide` keeps the sums of narrow floats in float32.
Array checked_product(const Array& a, const Array& b, const Array* out, bool is_wide = false) {
  if (a.ndim() == 0 || b.ndim() == 0)
    throw ShapeError("matmul: Input operand does not have enough dimensions (each needs one axis): shapes " +
                     to_string(a.shape()) + " and " + to_string(b.shape()));
  if (&a.device() != &b.device())
    throw DeviceError("matmul: the arrays are on " + device_name(a.device()) + " and " + device_name(b.device()));
  const Array left = a.ndim() == 1 ? a.expand_dims(0) : a, right = b.ndim() == 1 ? b.expand_dims(1) : b;
  if (left.shape(left.ndim() - 1) != right.shape(right.ndim() - 2)) raise_mismatch(a, b);
  const Dtype dtype = promote(a.dtype(), b.dtype());
  if (!out) {
    Array result = product(left, right, dtype, is_wide && is_half(dtype) ? Dtype::float32 : dtype, nullptr);
    if (a.ndim() == 1) result = result.squeeze(-2);
    return b.ndim() == 1 ? result.squeeze(-1) : result;
  }
  const Dims batch_a = leading(left.shape()), batch_b = leading(right.shape());
  const Dims* both[] = {&batch_a, &batch_b};
  Dims shape = broadcast_shapes(both);
  if (a.ndim() > 1) shape.push_back(left.shape(left.ndim() - 2));
  if (b.ndim() > 1) shape.push_back(right.shape(right.ndim() - 1));
  check_out("matmul", *out, shape, a.device());
  check_cast(*out, dtype);
  const bool direct = out->dtype() == dtype && out->is_c_contiguous() && a.ndim() > 1 && b.ndim() > 1 &&
                      !out->may_overlap(a) && !out->may_overlap(b) && out->size() > 0;
  if (!direct) {
    Array target = *out;
    target.assign(checked_product(a, b, nullptr));
  } else {
    product(left, right, dtype, dtype, out);
  }
  return *out;
}

}  // namespace

const Implementations<const ExactProducts> ExactProducts::implementations{"matrix products", {&kCpu, &kCuda}};

int64_t batch_of(const Array& x) {
  int64_t product = 1;
  for (int axis = 0; axis + 2 < x.ndim(); ++axis) product *= x.shape(axis);
  return product;
}

std::optional<Array> layer_product(const Array& x, const Array& matrix, const Array& bias, bool has_relu) {
  LinearAlgebra* const library = x.device().find_service<LinearAlgebra>();
  const int64_t rows = x.shape(0), inputs = x.shape(1), outputs = matrix.shape(1);
  if (!library || x.size() == 0 || outputs == 0 || x.dtype() != matrix.dtype() || x.dtype() != bias.dtype()) return {};
  Array a = x, b = matrix;
  const Array dense_bias = bias.contiguous(), result = Array::empty({rows, outputs}, x.dtype(), x.device());
  const MatrixOperand left = transposed_operand(a), right = transposed_operand(b);
  const MatrixProduct product{x.dtype(), x.dtype(), outputs, rows, inputs, 1, right, left, result.data()};
  if (!library->multiply_layer(product, dense_bias.data(), has_relu)) return {};
  return result;
}

Array wide_matmul(const Array& a, const Array& b) { return checked_product(a, b, nullptr, true); }

}  // namespace ops

Array matmul(const Array& a, const Array& b, const Array* out) {
  const Array result = ops::checked_product(a, b, out);
  if (ops::current_listener) {
    const Argument both[] = {a, b};
    ops::current_listener->computed("matmul", both, result);
  }
  return result;
}

}  // namespace iruka
