// NumPy's piecewise linear interpolation.
#pragma once

#include "ops/sort/kernels/search.h"

namespace iruka::order {

/// The line of two points at x, where one of them may be infinite.
IRUKA_INLINE double on_slope(double slope, double x, double x0, double x1, double y0, double y1) {
  double y = slope * (x - x0) + y0;
  if (y != y) y = slope * (x - x1) + y1;
  return y != y && y0 == y1 ? y0 : y;
}
/// The slope is rounded as NumPy's: a quotient, of complex numbers a product with 1 / (x1 - x0).
IRUKA_INLINE double on_line(double x, double x0, double x1, double y0, double y1) {
  return on_slope((y1 - y0) / (x1 - x0), x, x0, x1, y0, y1);
}
IRUKA_INLINE complex<double> on_line(double x, double x0, double x1, complex<double> y0, complex<double> y1) {
  const double inverse = 1.0 / (x1 - x0);
  return {on_slope((y1.real() - y0.real()) * inverse, x, x0, x1, y0.real(), y1.real()),
          on_slope((y1.imag() - y0.imag()) * inverse, x, x0, x1, y0.imag(), y1.imag())};
}

template <class V, class Places, class Values, class I>
IRUKA_INLINE V interpolate(double x, const Places& xp, const Values& fp, I n, V left, V right, bool has_left,
                           bool has_right) {
  if (x > xp[n - 1]) return has_right ? right : fp[n - 1];
  if (x < xp[0]) return has_left ? left : fp[0];
  if (x != x && n > 1) return V(x);
  const I count = count_first(n, [&](I at) { return x >= xp[at]; }), k = count > 0 ? count - 1 : 0;
  if (k == n - 1 || xp[k] == x) return fp[k];
  return on_line(x, xp[k], xp[k + 1], fp[k], fp[k + 1]);
}

}  // namespace iruka::order
