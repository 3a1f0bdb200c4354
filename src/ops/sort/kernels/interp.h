// NumPy's piecewise linear interpolation.
#pragma once

#include "ops/sort/kernels/before.h"
#include "ops/sort/kernels/search.h"

namespace iruka::order {

template <class V, class Places, class Values>
static IRUKA_INLINE V interpolate(double x, const Places& xp, const Values& fp, int64_t n, V left, V right,
                                  bool has_left, bool has_right) {
  const int64_t k = count_first(n, [&](int64_t at) { return !before(x, xp[at]); }) - 1;
  if (x != x) return V(x);
  if (k < 0) return has_left ? left : fp[0];
  if (k == n - 1) return x == xp[k] || !has_right ? fp[k] : right;
  if (xp[k] == x) return fp[k];
  const V slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k]);
  const V value = slope * (x - xp[k]) + fp[k];
  if (value == value) return value;
  const V other = slope * (x - xp[k + 1]) + fp[k + 1];
  return other != other && fp[k] == fp[k + 1] ? fp[k] : other;
}

}  // namespace iruka::order
