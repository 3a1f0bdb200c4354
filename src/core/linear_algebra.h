// The service for dense linear algebra: BLAS and LAPACK on the CPU, cuBLAS and cuSOLVER on a GPU.
#pragma once

#include <cstdint>

#include "core/service.h"
#include "iruka/dtype.h"

namespace iruka {

/// How a matrix is used: as it is, transposed, or conjugated and transposed.
enum class Transpose : char { no = 'N', yes = 'T', conjugate = 'C' };

/// One of the inputs of a product: column-major, `leading` elements from column to column.
struct MatrixOperand {
  const void* data;
  Transpose transpose;
  int64_t leading;
  int64_t batch_stride;  ///< elements from matrix to matrix; 0: all products use one matrix
};

/// c = a b for each matrix of a batch; c is m x n, column-major, dense.
struct MatrixProduct {
  Dtype dtype;         ///< of a and b: float32, float64, complex64, complex128; on a GPU also float16 and bfloat16
  Dtype result_dtype;  ///< of c: the same, or float32 for products of float16 and bfloat16
  int64_t m, n, k, batch;
  MatrixOperand a, b;
  void* c;
};

/// Matrices are column-major, dense, and follow each other in memory; dtypes are float32, float64, complex64 and
/// complex128. `info` has an int32 for each matrix in the device's memory: 0 for success. Calls run in the order of the
/// device's other work. All raise DeviceError where the library is missing.
class LinearAlgebra {
 public:
  static constinit const Implementations<LinearAlgebra> implementations;
  virtual ~LinearAlgebra() = default;

  virtual void multiply(const MatrixProduct& product) = 0;
  /// A layer of a network in one step: multiply(), a number of `bias` added to each row of c, and then max(c, 0) if
  /// `has_relu`, which keeps NaN. False where the library has no way for such a product.
  virtual bool multiply_layer(const MatrixProduct&, const void* /*bias*/, bool /*has_relu*/) { return false; }
  /// Replaces `a` (n x n) by its factors P L U; pivots[k] is the row, counted from 1, that row k was exchanged with.
  virtual void factor_lu(Dtype dtype, int64_t n, int64_t batch, void* a, int32_t* pivots, int32_t* info) = 0;
  /// Replaces `b` by the solutions for `columns` right-hand sides, from the result of factor_lu.
  virtual void solve_lu(Dtype dtype, Transpose transpose, int64_t n, int64_t columns, int64_t batch, const void* lu,
                        const int32_t* pivots, void* b) = 0;
  /// Whether factor_cholesky() is faster with `lower`, even if that needs transposed copies.
  virtual bool prefers_lower() const { return false; }
  /// Writes the factor into the lower or upper triangle of `a` and leaves the other triangle unchanged.
  virtual void factor_cholesky(Dtype dtype, bool lower, int64_t n, int64_t batch, void* a, int32_t* info) = 0;
  /// Writes R into the upper triangle of `a` (m x n) and the reflectors below it, with min(m, n) factors `tau`.
  virtual void factor_qr(Dtype dtype, int64_t m, int64_t n, int64_t batch, void* a, void* tau) = 0;
  /// Replaces the `reflectors` reflectors in `a` (m x columns) by the first `columns` columns of Q.
  virtual void form_q(Dtype dtype, int64_t m, int64_t columns, int64_t reflectors, int64_t batch, void* a,
                      const void* tau) = 0;
  /// Eigenvalues, ascending, of Hermitian matrices given by a triangle; with `vectors`, the eigenvectors replace `a`.
  virtual void eigh(Dtype dtype, bool vectors, bool lower, int64_t n, int64_t batch, void* a, void* values,
                    int32_t* info) = 0;
  /// Singular values, descending, of m x n matrices; `a` is overwritten. `u` (m x m, or m x min(m, n) unless `full`)
  /// and `vt` (n x n, or min(m, n) x n) receive the vectors unless null.
  virtual void svd(Dtype dtype, bool full, int64_t m, int64_t n, int64_t batch, void* a, void* s, void* u, void* vt,
                   int32_t* info) = 0;
  /// The largest m and n of svd_jacobi(); 0: the library has no such function.
  virtual int64_t most_jacobi() const { return 0; }
  /// Like svd(), by Jacobi rotations for all matrices at once: `u` is m x m; `v` is n x n and not transposed; both are
  /// scratch memory without `vectors`. NaN may count as success.
  virtual void svd_jacobi(Dtype, bool /*vectors*/, int64_t /*m*/, int64_t /*n*/, int64_t /*batch*/, void* /*a*/,
                          void* /*s*/, void* /*u*/, void* /*v*/, int32_t* /*info*/) {}
  /// Eigenvalues of general matrices as complex numbers, and right vectors (n x n, complex) unless null; `a` is
  /// overwritten. Raises DeviceError where the library has no such function.
  virtual void eig(Dtype dtype, int64_t n, int64_t batch, void* a, void* values, void* vectors, int32_t* info) = 0;
};

}  // namespace iruka
