// Products of matrices.
#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "iruka/products.h"
#include "nn/fusion.h"
#include "nn/operators/operator.h"
#include "ops/linalg/operands.h"

namespace iruka::nn {
namespace {

Results mat_mul(const Call& call) { return {matmul(call[0], call[1])}; }

Array scaled(const Array& x, double factor) {
  return factor == 1 ? x : multiply(x, Scalar(factor)).astype(x.dtype(), false);
}

/// alpha A B + beta C.
Results gemm(const Call& call) {
  Array a = call[0], b = call[1];
  if (a.ndim() != 2 || b.ndim() != 2) {
    call.fail("A and B must be matrices, but have shapes " + to_string(a.shape()) + " and " + to_string(b.shape()));
  }
  if (call.integer("transA", 0)) a = a.transpose();
  if (call.integer("transB", 0)) b = b.transpose();
  const Dtype dtype = promote(a.dtype(), b.dtype());
  const Array product = scaled(ops::wide_matmul(a, b), call.number("alpha", 1));
  const Dtype result = call.integer(kIsWide, 0) ? product.dtype() : dtype;
  if (!call.has(2)) return {product.astype(result, false)};
  call.check_broadcast(call[2], "C", product.shape());
  const Array addend = scaled(call[2].astype(compute_dtype(call[2].dtype()), false), call.number("beta", 1));
  return {add(product, addend).astype(result, false)};
}

Results einsum_operator(const Call& call) {
  std::vector<Array> operands;
  operands.reserve(call.count());
  for (size_t k = 0; k < call.count(); ++k) operands.push_back(call[k]);
  return {einsum(call.text("equation", ""), operands)};
}

constexpr Operator kRows[] = {
    {"Einsum", einsum_operator},
    {"Gemm", gemm},
    {"MatMul", mat_mul},
};

}  // namespace

std::span<const Operator> matrix_operators() { return kRows; }

}  // namespace iruka::nn
