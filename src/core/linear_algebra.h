// What a device's library of dense linear algebra does: BLAS and LAPACK on the CPU, cuBLAS and cuSOLVER on a GPU.
#pragma once

#include <cstdint>

#include "core/service.h"
#include "iruka/dtype.h"

namespace iruka {

/// How the elements of a matrix are passed: as they lie, transposed, or conjugated and transposed.
enum class Transpose : char { no = 'N', yes = 'T', conjugate = 'C' };

/// One of the inputs of a product: column-major, `leading` elements from column to column.
struct MatrixOperand {
  const void* data;
  Transpose transpose;
  int64_t leading;
  int64_t batch_stride;  ///< elements from matrix to matrix; 0: one matrix for all
};

/// c = a b for each matrix of a batch; c is m x n, column-major, dense.
struct MatrixProduct {
  Dtype dtype;  ///< float32, float64, complex64, complex128; on a GPU also float16 and bfloat16
  int64_t m, n, k, batch;
  MatrixOperand a, b;
  void* c;
};

/// Matrices are column-major, dense, and follow each other in memory; dtypes are float32, float64, complex64 and
/// complex128. `info` has an int32 for each matrix in the device's memory: 0 for success. Calls are in the order of the
/// device's other work. Everything raises DeviceError where the library is missing.
class LinearAlgebra {
 public:
  static constinit const Implementations<LinearAlgebra> implementations;
  virtual ~LinearAlgebra() = default;

  virtual void multiply(const MatrixProduct& product) = 0;
  /// P L U in place of `a` (n x n); pivots[k] is the row, from 1, that row k changed places with.
  virtual void factor_lu(Dtype dtype, int64_t n, int64_t batch, void* a, int32_t* pivots, int32_t* info) = 0;
  /// Solves for `columns` right-hand sides in place of `b` with what factor_lu gave.
  virtual void solve_lu(Dtype dtype, Transpose transpose, int64_t n, int64_t columns, int64_t batch, const void* lu,
                        const int32_t* pivots, void* b) = 0;
  /// Whether factor_cholesky() is faster with `lower`, even where that takes transposed copies.
  virtual bool prefers_lower() const { return false; }
  /// The factor in the lower or upper triangle of `a`; the other one is left.
  virtual void factor_cholesky(Dtype dtype, bool lower, int64_t n, int64_t batch, void* a, int32_t* info) = 0;
  /// R in the upper triangle of `a` (m x n), reflectors below; min(m, n) factors `tau`.
  virtual void factor_qr(Dtype dtype, int64_t m, int64_t n, int64_t batch, void* a, void* tau) = 0;
  /// The first `columns` columns of Q in place of the `reflectors` reflectors in `a` (m x columns).
  virtual void form_q(Dtype dtype, int64_t m, int64_t columns, int64_t reflectors, int64_t batch, void* a,
                      const void* tau) = 0;
  /// Eigenvalues, ascending, of Hermitian matrices given by a triangle; with `vectors`, these in place of `a`.
  virtual void eigh(Dtype dtype, bool vectors, bool lower, int64_t n, int64_t batch, void* a, void* values,
                    int32_t* info) = 0;
  /// Singular values, descending, of m x n matrices; `a` is overwritten. With `u` (m x m, or m x min(m, n) unless
  /// `full`) and `vt` (n x n, or min(m, n) x n) also vectors; null: none.
  virtual void svd(Dtype dtype, bool full, int64_t m, int64_t n, int64_t batch, void* a, void* s, void* u, void* vt,
                   int32_t* info) = 0;
  /// The largest m and n of svd_by_rotations(); 0: the library has no such function.
  virtual int64_t most_rotated() const { return 0; }
  /// The same by Jacobi rotations, all matrices at once: `u` is m x m and `v` n x n, whose conjugate transpose the
  /// decomposition has; both are memory to work in without `vectors`. NaN may count as success.
  virtual void svd_by_rotations(Dtype, bool /*vectors*/, int64_t /*m*/, int64_t /*n*/, int64_t /*batch*/, void* /*a*/,
                                void* /*s*/, void* /*u*/, void* /*v*/, int32_t* /*info*/) {}
  /// Eigenvalues of general matrices as complex numbers, and right vectors (n x n, complex) unless null; `a` is
  /// overwritten. Raises DeviceError where the library has no such function.
  virtual void eig(Dtype dtype, int64_t n, int64_t batch, void* a, void* values, void* vectors, int32_t* info) = 0;
};

}  // namespace iruka
