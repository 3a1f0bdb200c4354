// Pointwise operators of graphs, by ONNX's formulas. F is float or double, T any number. Attributes are of the type F.
#pragma once

#include "jit/kernels/activations.h"

namespace iruka::nn {

template <class F> IRUKA_INLINE F reciprocal(F x) { return F(1) / x; }
template <class T> IRUKA_INLINE T sign(T x) { return x != x ? x : T(T(x > T(0)) - T(x < T(0))); }
template <class T> IRUKA_INLINE T relu(T x) { return Relu::apply(x, (const T*)nullptr, 0); }
template <class T> IRUKA_INLINE T leaky_relu(T x, T alpha) { return x < T(0) ? T(alpha * x) : x; }
template <class F> IRUKA_INLINE F thresholded_relu(F x, F alpha) { return x > alpha ? x : F(0); }
template <class F> IRUKA_INLINE F elu(F x, F alpha) { return Elu::apply(x, &alpha, 0); }
template <class F> IRUKA_INLINE F selu(F x, F alpha, F gamma) { return gamma * elu(x, alpha); }
template <class F> IRUKA_INLINE F celu(F x, F alpha) { return x > F(0) ? x : alpha * expm1(x / alpha); }
template <class F> IRUKA_INLINE F gelu(F x) { return Gelu::apply(x, (const F*)nullptr, 0); }
template <class F> IRUKA_INLINE F gelu_tanh(F x) { return GeluTanh::apply(x, (const F*)nullptr, 0); }
template <class F> IRUKA_INLINE F sigmoid(F x) { return F(1) / (F(1) + exp(-x)); }
template <class F> IRUKA_INLINE F swish(F x, F alpha) { return x / (F(1) + exp(-alpha * x)); }
template <class F> IRUKA_INLINE F hard_sigmoid(F x, F alpha, F beta) {
  return minimum(maximum(alpha * x + beta, F(0)), F(1));
}
template <class F> IRUKA_INLINE F hard_swish(F x) { return x * hard_sigmoid(x, F(1) / F(6), F(0.5)); }
template <class F> IRUKA_INLINE F softplus(F x) { return layer_softplus(x); }
template <class F> IRUKA_INLINE F softsign(F x) { return x / (F(1) + fabs(x)); }
template <class F> IRUKA_INLINE F mish(F x) { return x * layer_tanh(softplus(x)); }
template <class F> IRUKA_INLINE F affine(F x, F alpha, F beta) { return alpha * x + beta; }
template <class F> IRUKA_INLINE F scaled_tanh(F x, F alpha, F beta) { return alpha * layer_tanh(beta * x); }
template <class T> IRUKA_INLINE T shrink(T x, float bias, float lambd) {
  return x < -lambd ? T(x + bias) : x > lambd ? T(x - bias) : T(0);
}

/// A remainder with the sign of the divisor, and 0 of a division of integers by zero.
template <class T> IRUKA_INLINE T floored_remainder(T x, T y) {
  if constexpr (Integer<T>) {
    const T r = T(x % y);
    return r != T(0) && (r < T(0)) != (y < T(0)) ? T(r + y) : r;
  } else {
    const T r = fmod(x, y);
    return r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
  }
}
template <class T> IRUKA_INLINE T truncated_remainder(T x, T y) {
  if constexpr (Integer<T>)
    return T(x % y);
  else
    return fmod(x, y);
}

/// Integers wrap; a negative exponent of one gives what the rounded power is.
template <class T, class E> IRUKA_INLINE T power(T x, E exponent) {
  if constexpr (!Integer<T>) {
    return pow(x, T(exponent));
  } else if constexpr (!Integer<E>) {
    return T(pow(double(x), double(exponent)));
  } else {
    if (exponent < E(0)) return x == T(1) ? T(1) : x == T(-1) ? ((exponent & E(1)) ? T(-1) : T(1)) : T(0);
    T result = T(1);
    for (E left = exponent; left != E(0); left >>= 1) {
      if (left & E(1)) result = wrapping_multiply(result, x);
      x = wrapping_multiply(x, x);
    }
    return result;
  }
}

template <class T> IRUKA_INLINE T shifted_left(T x, T y) { return y < T(8 * sizeof(T)) ? T(x << y) : T(0); }
template <class T> IRUKA_INLINE T shifted_right(T x, T y) {
  return y < T(8 * sizeof(T)) ? T(x >> y) : x < T(0) ? T(-1) : T(0);
}
template <class T> IRUKA_INLINE bool is_nan(T x) { return x != x; }
template <class F> IRUKA_INLINE bool is_infinite(F x, bool negative, bool positive) {
  return isinf(x) && (x < F(0) ? negative : positive);
}

}  // namespace iruka::nn
