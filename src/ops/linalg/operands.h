// Checks and layouts that functions of linear algebra share.
#pragma once

#include <optional>

#include "core/linear_algebra.h"
#include "core/service.h"
#include "iruka/linalg.h"

namespace iruka::ops {

/// The same matrices with rows and columns exchanged; no element moves.
inline Array matrix_transpose(const Array& x) { return x.swapaxes(-2, -1); }

/// A sum in the array's own dtype; whether any is true, of bools.
Array sum_in_own_dtype(const Array& x, const Dims& axes);

/// Matrices with one product of leading extents.
int64_t batch_of(const Array& x);

/// matmul() with the sums of float16 and bfloat16 in float32, not rounded; other dtypes as they are.
Array wide_matmul(const Array& a, const Array& b);

/// A layer of a network in one step, where the device's library has it: x (rows, inputs) times matrix (inputs,
/// outputs), plus bias (outputs), and then the larger of that and 0 if `has_relu`. All of one dtype of floats.
std::optional<Array> layer_product(const Array& x, const Array& matrix, const Array& bias, bool has_relu);

/// The dtype that `a` is decomposed in: float64 for integers. Raises TypeError for 16-bit floats.
Dtype linalg_dtype(const char* function, Dtype dtype);

/// Raises ShapeError for fewer than two axes, or where the last two differ.
void check_matrices(const char* function, const Array& a);
void check_square(const char* function, const Array& a);

/// Products by Iruka's own kernels: each of `batch` matrices c (m x n, contiguous) = a b, with strides in elements.
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
struct ExactProducts {
  static constinit const Implementations<const ExactProducts> implementations;

  /// Integers, modulo 2^bits.
  void (*multiply_integers)(Device& device, const StridedProduct& product);
  void (*multiply_bools)(Device& device, const StridedProduct& product);
  /// The dtype that a product of m x k and k x n matrices of `dtype` is computed in.
  Dtype (*computing_dtype)(Dtype dtype, int64_t m, int64_t n, int64_t k);
};
void multiply_integers_cpu(Device& device, const StridedProduct& product);
void multiply_bools_cpu(Device& device, const StridedProduct& product);
void multiply_integers_cuda(Device& device, const StridedProduct& product);  ///< bools, too

/// Whole batches of small matrices in one launch. A device without this service leaves them to LinearAlgebra.
struct SmallMatrices {
  static constinit const Implementations<const SmallMatrices> implementations;

  /// Floats or complex numbers, into the contiguous `c`.
  void (*multiply)(const Array& c, const StridedProduct& product);
  /// x (..., n, k) with a x = b, for the identity where `b` is null; both dense. Sets `singular`, an int32, where a
  /// pivot is 0.
  Array (*solve)(const Array& a, const Array* b, const Array& singular);
  /// L and U of `a` (..., n, n), dense, and n pivots of each matrix, as LinearAlgebra::factor_lu gives them of rows.
  void (*factor)(const Array& a, const Array& lu, const Array& pivots);
};
/// The device's service if it handles matrices of these extents, else null.
const SmallMatrices* small_product(Device& device, Dtype dtype, int64_t m, int64_t n, int64_t k);
const SmallMatrices* small_system(Device& device, Dtype dtype, int64_t n, int64_t sides);

/// The texts of the kernels for small matrices.
std::string small_product_text(Dtype dtype);
std::string small_system_text(Dtype dtype, int64_t n, int64_t sides);  ///< the same up to the next powers of two

/// The text that multiplies integers of `c_type` for CUDA, its tile's extent and its threads.
std::string integer_product_text(const std::string& c_type);
inline constexpr int kIntegerTile = 64, kIntegerThreads = 256;

}  // namespace iruka::ops
