// Linear algebra: products, factorizations, equations, eigenvalues. Arrays of more than two axes are batches of
// matrices (the last two axes). bool and integers are computed in float64 unless a function says otherwise.
#pragma once

#include <optional>

#include "iruka/array.h"

namespace iruka {

/// Matrix product of the last two axes, of any dtype; the others broadcast. A 1-d array is a row on the left, a column
/// on the right, without that axis in the result. With `out` (that shape, any dtype the result casts to) the result
/// goes there. Raises ShapeError where inner extents differ or an operand has no axes.
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
/// raw: q holds reflectors, transposed, and r their factors.
IRUKA_API QrResult qr(const Array& a, QrMode mode = QrMode::reduced);
IRUKA_API SvdResult svd(const Array& a, bool full = true, bool vectors = true);
/// Hermitian matrices, given by their lower or upper triangle; eigenvalues ascend.
IRUKA_API EigenResult eigh(const Array& a, bool lower = true, bool vectors = true);
/// General matrices; always complex. A GPU's arrays are computed on the CPU.
IRUKA_API EigenResult eig(const Array& a, bool vectors = true);

}  // namespace linalg
}  // namespace iruka
