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

/// Multiplies integers, modulo 2^bits: each of `batch` matrices c (m x n, dense) = a b, with strides in elements.
struct IntegerOperand {
  const void* data;
  int64_t row_stride, column_stride, batch_stride;
};
struct IntegerProduct {
  int itemsize;
  int64_t m, n, k, batch;
  IntegerOperand a, b;
  void* c;
};
void multiply_integers(Device& device, const IntegerProduct& product);

/// Whether any pair is true: each of `batch` matrices c (m x n, dense bools) from a and b as above, on the CPU.
void multiply_bools(const IntegerProduct& product);

/// The text that multiplies integers of `c_type` on a GPU, its tile's extent and its threads.
std::string integer_product_text(const std::string& c_type);
inline constexpr int kIntegerTile = 64, kIntegerThreads = 256;

}  // namespace iruka::ops
