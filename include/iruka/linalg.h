// Linear algebra: products, factorizations, equations, eigenvalues. Arrays of more than two axes are batches of
// matrices (the last two axes). bool and integers are computed in float64 unless a function says otherwise.
#pragma once

#include <optional>
#include <span>

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka {

/// Matrix product of the last two axes, of any dtype; the other axes broadcast. A 1-d array is a row on the left and a
/// column on the right; the result lacks that axis. With `out` (of the result's shape, and a dtype to which the result
/// casts), the result is written there. Raises ShapeError if inner extents differ or an operand has no axes.
IRUKA_API Array matmul(const Array& a, const Array& b, const Array* out = nullptr);

namespace linalg {

/// A singular or indefinite matrix, or an iteration that did not converge (Python: numpy.linalg.LinAlgError).
class IRUKA_API LinAlgError : public ValueError {
 public:
  using ValueError::ValueError;
};

struct EigenResult {
  Array values, vectors;  ///< (..., n) and (..., n, n), eigenvectors as columns; vectors are invalid if not requested
};
struct SvdResult {
  Array u, s, vh;  ///< u and vh are invalid if not requested
};
struct QrResult {
  Array q, r;
};
struct LogDeterminant {
  Array sign, logarithm;
};
enum class QrMode : uint8_t { reduced, complete, r, raw };

// Each raises ShapeError for an array of fewer than two axes, or not square where it must be; TypeError for float16 and
// bfloat16; LinAlgError as said above.
IRUKA_API Array inv(const Array& a);
/// x with a x = b. `b` is a vector where it has one axis, else matrices.
IRUKA_API Array solve(const Array& a, const Array& b);
IRUKA_API Array det(const Array& a);
IRUKA_API LogDeterminant slogdet(const Array& a);
/// Lower (or upper) triangular factor of Hermitian matrices; only that triangle is read.
IRUKA_API Array cholesky(const Array& a, bool upper = false);
/// raw: q holds the Householder reflectors, transposed, and r their scalar factors.
IRUKA_API QrResult qr(const Array& a, QrMode mode = QrMode::reduced);
IRUKA_API SvdResult svd(const Array& a, bool full = true, bool vectors = true);
/// Hermitian matrices, given by their lower or upper triangle; eigenvalues ascend.
IRUKA_API EigenResult eigh(const Array& a, bool lower = true, bool vectors = true);
/// General matrices; always complex. A GPU's arrays are computed on the CPU. Raises LinAlgError for infinities and NaN.
IRUKA_API EigenResult eig(const Array& a, bool vectors = true);
/// The same without vectors.
IRUKA_API Array eigvals(const Array& a);
IRUKA_API Array eigvalsh(const Array& a, bool lower = true);
/// svd of Hermitian matrices by eigh, which is faster; their lower triangle is read.
IRUKA_API SvdResult svd_hermitian(const Array& a, bool vectors = true);
/// Singular values (..., min(m, n)), descending.
IRUKA_API Array svdvals(const Array& a);

// Norms beside norm() in ops.h, which takes numbers as orders.
/// Norm of order `order` of the elements along the axes (all axes if none are given), taken as one vector.
IRUKA_API Array vector_norm(const Array& x, double order = 2, const std::optional<Dims>& axes = {},
                            bool keepdims = false);
/// Norm of the matrices in the last two axes: Frobenius, or of order 1, -1, 2, -2, inf or -inf.
IRUKA_API Array matrix_norm(const Array& x, std::optional<double> order = {}, bool keepdims = false);
/// Sum of the singular values of the matrices in two axes.
IRUKA_API Array nuclear_norm(const Array& x, const Dims& axes = {-2, -1}, bool keepdims = false);
/// Condition number: the ratio of singular values without an order and for 2 and -2, else norm(x, order) *
/// norm(inv(x), order). Infinite for singular matrices. Raises LinAlgError for empty ones.
IRUKA_API Array cond(const Array& x, std::optional<double> order = {});
/// The same by Frobenius and by nuclear norms.
IRUKA_API Array frobenius_cond(const Array& x);
IRUKA_API Array nuclear_cond(const Array& x);

// A tolerance is a number, or an array with one number for each matrix. A relative tolerance is a multiple of the
// largest singular value; its default is the larger extent times the dtype's epsilon.
/// Moore-Penrose inverse (..., n, m) by singular values; those up to the tolerance count as 0.
IRUKA_API Array pinv(const Array& a, const std::optional<Argument>& relative_tolerance = {}, bool hermitian = false);
struct RankOptions {
  std::optional<Argument> tolerance{}, relative_tolerance{};  ///< at most one may be given
  bool hermitian = false;
};
/// Number of singular values over the tolerance: int64. Whether any element is not 0, of fewer than two axes.
IRUKA_API Array matrix_rank(const Array& a, const RankOptions& options = {});

struct LeastSquares {
  Array x;          ///< (n,) or (n, k)
  Array residuals;  ///< sums of squares, (k,); none unless the rank is n and m > n
  int64_t rank = 0;
  Array singular_values;
};
/// x that minimises |b - a x|. a: (m, n); b: (m,) or (m, k). A tolerance outside (0, 1) is the dtype's epsilon.
IRUKA_API LeastSquares lstsq(const Array& a, const Array& b, std::optional<double> relative_tolerance = {});

/// Square matrices to a power, by repeated squaring; a negative one inverts first.
IRUKA_API Array matrix_power(const Array& a, int64_t power);
/// Product of two or more matrices in the cheapest order; the first and last may be vectors. Raises ValueError for
/// fewer than two arrays, LinAlgError for other ranks.
IRUKA_API Array multi_dot(std::span<const Array> arrays);
/// x with tensordot(a, x, x.ndim()) = b; `axes` of a are moved to its end first. Raises LinAlgError where shapes do not
/// fit.
IRUKA_API Array tensorsolve(const Array& a, const Array& b, const std::optional<Dims>& axes = {});
/// The inverse for tensordot(a, x, rows): the first `rows` axes go to the end. Raises ValueError for no rows.
IRUKA_API Array tensorinv(const Array& a, int64_t rows = 2);

}  // namespace linalg
}  // namespace iruka
