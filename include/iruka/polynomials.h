// Polynomials as vectors of coefficients, the highest power first. Results have the promoted dtype.
#pragma once

#include <optional>

#include "iruka/array.h"

namespace iruka {

/// The polynomial with coefficients p at every point of x, by Horner's rule. Raises TypeError for p without axes; of p
/// with more than one axis, rows are the coefficients.
IRUKA_API Array polyval(const Array& p, const Array& x);

/// Sum and difference of two polynomials; arrays without axes are constants.
IRUKA_API Array polyadd(const Array& a, const Array& b);
IRUKA_API Array polysub(const Array& a, const Array& b);
/// The product of two polynomials. Leading zeros are ignored. Waits for the device. Raises ValueError for more than one
/// axis.
IRUKA_API Array polymul(const Array& a, const Array& b);
struct PolynomialQuotient {
  Array quotient, remainder;
};
/// Quotient and remainder, in floats. The remainder has no leading zeros; a remainder of zero is one coefficient. Waits
/// for the device.
IRUKA_API PolynomialQuotient polydiv(const Array& u, const Array& v);
/// The m-th derivative; the m-th antiderivative, with constants of integration, zeros by default, one for each step or
/// one for all. Raise ValueError for a negative m and too few constants.
IRUKA_API Array polyder(const Array& p, int64_t m = 1);
IRUKA_API Array polyint(const Array& p, int64_t m = 1, const Array* constants = nullptr);
/// The coefficients of the polynomial with these roots; of a square matrix, its characteristic polynomial. Real for
/// complex roots that come with their conjugates. Raises ValueError for other shapes.
IRUKA_API Array poly(const Array& zeros);
/// The roots: eigenvalues of the companion matrix; those at 0 come last. Waits for the device. Raises ValueError for
/// more than one axis.
IRUKA_API Array roots(const Array& p);

}  // namespace iruka
