// var and std: a partial result is a mean and the sum of squared distances from it; partial results are joined as in
// Chan, Golub and LeVeque (1979). Means are relative to a pivot, which is one of the elements. So they stay small and
// accurate, even if all elements share a large offset.
#pragma once

namespace iruka::reduction {

template <class Row>
struct Moments : Row {
  using typename Row::A;
  using typename Row::R;
  struct Partial {
    A pivot, mean;
    R squares;
    double n;
  };
  static IRUKA_INLINE R square_of(A d) {
    if constexpr (Row::kIsComplex) {
      return d.real() * d.real() + d.imag() * d.imag();
    } else {
      return d * d;
    }
  }
  static IRUKA_INLINE Partial start_partial() { return {A(0), A(0), R(0), 0}; }
  /// The partial result of one element.
  static IRUKA_INLINE Partial of(typename Row::C x, long long) { return {Row::map(x), A(0), R(0), 1}; }
  static IRUKA_INLINE Partial join(Partial a, Partial b) {
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    const double n = a.n + b.n, share = b.n / n;
    const A distance = (b.pivot - a.pivot) + (b.mean - a.mean);
    return {a.pivot, a.mean + distance * R(share), a.squares + b.squares + square_of(distance) * R(a.n * share), n};
  }
};

}  // namespace iruka::reduction
