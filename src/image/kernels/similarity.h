// Structural similarity of two pictures (Wang et al., 2004) by separable windows.
#pragma once

namespace iruka::image {

/// Sums over the window at a place: of a, b, a * a, b * b and a * b.
constexpr int kSums = 5;

/// The sums along the columns of the window whose first row is y: place `i` of (height - taps + 1, width).
template <class A, class Weights>
IRUKA_INLINE void sums_down(const A& a, const A& b, const Weights& weights, int taps, long long width, long long i,
                            double* sums) {
  for (int k = 0; k < kSums; k++) sums[k] = 0;
  for (int k = 0; k < taps; k++) {
    const double x = double(a[i + k * width]), y = double(b[i + k * width]), weight = weights[k];
    sums[0] += weight * x;
    sums[1] += weight * y;
    sums[2] += weight * (x * x);
    sums[3] += weight * (y * y);
    sums[4] += weight * (x * y);
  }
}

/// The similarity of the window whose first column is that of place `i` of (rows, width - taps + 1); `sums` has
/// kSums planes of (rows, width).
template <class Sums, class Weights>
IRUKA_INLINE double similarity_across(const Sums& sums, const Weights& weights, int taps, long long width,
                                      long long plane, double c1, double c2, double correction, long long i) {
  const long long columns = width - taps + 1, row = i / columns, first = row * width + (i - row * columns);
  double all[kSums];
  for (int k = 0; k < kSums; k++) {
    double sum = 0;
    for (int x = 0; x < taps; x++) sum += double(weights[x]) * sums[k * plane + first + x];
    all[k] = sum;
  }
  const double a = all[0], b = all[1];
  const double aa = correction * (all[2] - a * a), bb = correction * (all[3] - b * b);
  const double ab = correction * (all[4] - a * b);
  return ((2 * a * b + c1) * (2 * ab + c2)) / ((a * a + b * b + c1) * (aa + bb + c2));
}

}  // namespace iruka::image
