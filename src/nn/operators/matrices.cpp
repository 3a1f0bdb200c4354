// Products of matrices.
#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "iruka/products.h"
#include "nn/operators/operator.h"

namespace iruka::nn {
namespace {

Results mat_mul(const Call& call) { return {matmul(call[0], call[1])}; }

/// alpha A B + beta C.
Results gemm(const Call& call) {
  Array a = call[0], b = call[1];
  if (a.ndim() != 2 || b.ndim() != 2) {
    call.fail("A and B must be matrices, but have shapes " + to_string(a.shape()) + " and " + to_string(b.shape()));
  }
  if (call.integer("transA", 0)) a = a.transpose();
  if (call.integer("transB", 0)) b = b.transpose();
  Array product = matmul(a, b);
  const auto scaled = [](const Array& x, double factor) {
    return factor == 1 ? x : multiply(x, Scalar(factor)).astype(x.dtype(), false);
  };
  product = scaled(product, call.number("alpha", 1));
  if (!call.has(2)) return {product};
  call.check_broadcast(call[2], "C", product.shape());
  return {add(product, scaled(call[2], call.number("beta", 1)))};
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
