// Checks and layouts that functions of linear algebra share.
#pragma once

#include "core/linear_algebra.h"
#include "iruka/linalg.h"

namespace iruka::ops {

/// The same matrices with rows and columns exchanged; no element moves.
inline Array matrix_transpose(const Array& x) { return x.swapaxes(-2, -1); }

/// Matrices with one product of leading extents.
int64_t batch_of(const Array& x);

/// The dtype that `a` is decomposed in: float64 for integers. Raises TypeError for 16-bit floats.
Dtype linalg_dtype(const char* function, Dtype dtype);

/// Raises ShapeError for fewer than two axes, or where the last two differ.
void check_matrices(const char* function, const Array& a);
void check_square(const char* function, const Array& a);

/// Products by kernels of our own: each of `batch` matrices c (m x n, dense) = a b, with strides in elements.
struct StridedOperand {
  const void* data;
  int64_t row_stride, column_stride, batch_stride;
};
struct StridedProduct {
  int itemsize;
  int64_t m, n, k, batch;
  StridedOperand a, b;
  void* c;
  bool is_logical = false;  ///< of bools: whether any pair is true
};
/// Integers, modulo 2^bits; on a GPU also bools.
void multiply_integers(Device& device, const StridedProduct& product);

/// Bools on the CPU.
void multiply_bools(const StridedProduct& product);

/// Small matrices of floats or complex numbers on a GPU, into the dense `c`.
bool is_small_product(const Device& device, Dtype dtype, int64_t m, int64_t n, int64_t k);
void multiply_small(const Array& c, const StridedProduct& product);

/// Systems of `n` equations that a GPU solves all at once, with `sides` right-hand sides.
bool is_small_system(const Device& device, Dtype dtype, int64_t n, int64_t sides);
/// x (..., n, k) with a x = b, for the identity where `b` is null; both dense. Sets `singular`, an int32, where a pivot
/// is 0.
Array solve_small(const Array& a, const Array* b, const Array& singular);
/// L and U of `a` (..., n, n), dense, and n pivots of each matrix, as LinearAlgebra::factor_lu gives them of rows.
void factor_small(const Array& a, const Array& lu, const Array& pivots);

/// The texts of the kernels for small matrices.
std::string small_product_text(Dtype dtype);
std::string small_system_text(Dtype dtype, int64_t n, int64_t sides);  ///< the same up to the next powers of two

/// The text that multiplies integers of `c_type` on a GPU, its tile's extent and its threads.
std::string integer_product_text(const std::string& c_type);
inline constexpr int kIntegerTile = 64, kIntegerThreads = 256;

}  // namespace iruka::ops
