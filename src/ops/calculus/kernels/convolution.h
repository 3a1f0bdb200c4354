// Convolution of two vectors, term by term.
#pragma once

namespace iruka::calculus {

template <class T> struct Computing {
  using type = T;
};
template <Small T> struct Computing<T> {
  using type = float;
};

/// A function of its own, so that a product and the sum to which it is added are rounded separately.
template <class S> IRUKA_INLINE S product(S a, S b) { return a * b; }

/// Element k of the full convolution. It needs k - j >= 0 of the longer vector x for each j of y.
template <class T, class X, class Y>
IRUKA_INLINE T convolve(const X& x, const Y& y, int64_t nx, int64_t ny, int64_t k) {
  using S = typename Computing<T>::type;
  const int64_t from = k - nx + 1 > 0 ? k - nx + 1 : 0, to = k < ny - 1 ? k : ny - 1;
  S sum = S(0);
  for (int64_t j = from; j <= to; ++j) sum = sum + product((S)x[k - j], (S)y[j]);
  return T(sum);
}

}  // namespace iruka::calculus
