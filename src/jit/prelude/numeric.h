// NumPy's functions of one element, for the array library and for users' bodies.
#pragma once

#include "complex.h"

namespace iruka {

/// The largest value of a number type: infinity where the type has it.
template <Real T> IRUKA_INLINE T highest() {
  if constexpr (!Integer<T>)
    return (T)INFINITY;
  else if constexpr (is_same<T, bool>)
    return true;
  else if constexpr (is_signed<T>)
    return (T) ~((unsigned long long)1 << (sizeof(T) * 8 - 1));
  else
    return (T) ~(T)0;
}
template <Real T> IRUKA_INLINE T lowest() {
  if constexpr (!Integer<T>)
    return (T)-INFINITY;
  else if constexpr (!is_signed<T>)
    return (T)0;
  else
    return (T)((unsigned long long)1 << (sizeof(T) * 8 - 1));
}

/// Arithmetic in which integers wrap. C++ leaves the overflow of signed ones undefined, and CUDA's compiler uses that:
/// it takes x + 1 > x for true. Other types, and bool, have their operators.
template <class T> inline constexpr bool wraps = Integer<T> && !is_same<T, bool>;
template <class T> using UnsignedOf = Choose<sizeof(T) <= 4, uint32_t, uint64_t>;
template <class T> IRUKA_INLINE T wrapping_add(T a, T b) {
  if constexpr (wraps<T>)
    return (T)((UnsignedOf<T>)a + (UnsignedOf<T>)b);
  else
    return (T)(a + b);
}
template <class T> IRUKA_INLINE T wrapping_subtract(T a, T b) {
  if constexpr (wraps<T>)
    return (T)((UnsignedOf<T>)a - (UnsignedOf<T>)b);
  else
    return (T)(a - b);
}
template <class T> IRUKA_INLINE T wrapping_multiply(T a, T b) {
  if constexpr (wraps<T>)
    return (T)((UnsignedOf<T>)a * (UnsignedOf<T>)b);
  else
    return (T)(a * b);
}
template <class T> IRUKA_INLINE T wrapping_negate(T x) {
  if constexpr (wraps<T>) {
    auto negated = 0 - (UnsignedOf<T>)x;
#ifdef __CUDA_ARCH__
    // The assembler for GPUs compares a 16-bit negation as if it had 32 bits: -(-32768) > 0. So this one has 32.
    if constexpr (sizeof(T) == 2 && is_signed<T>) asm("" : "+r"(negated));
#endif
    return (T)negated;
  } else {
    return (T)-x;
  }
}

template <class T> struct Division {
  T quotient, remainder;
};

/// The quotient rounded down, and the remainder with the divisor's sign. Integers divided by zero give 0 and 0.
/// Floats follow NumPy's npy_divmod: quotient * b + remainder is close to a.
template <Real T> IRUKA_INLINE Division<T> divmod(T a, T b) {
  if constexpr (Integer<T>) {
    if (b == 0) return {0, 0};
    if constexpr (is_signed<T>) {
      if (b == (T)-1) return {wrapping_negate(a), 0};
      T quotient = (T)(a / b), remainder = (T)(a % b);
      bool below = remainder != 0 && (remainder < 0) != (b < 0);
      return {(T)(quotient - below), (T)(below ? remainder + b : remainder)};
    } else {
      return {(T)(a / b), (T)(a % b)};
    }
  } else {
    using F = Compute<T>;
    F x = a, y = b, mod = fmod(x, y);
    if (y == 0) return {(T)(x / y), (T)mod};
    F div = (x - mod) / y;
    bool below = mod != 0 && (y < 0) != (mod < 0);
    div -= below ? F(1) : F(0);
    mod = mod == 0 ? copysign(F(0), y) : (below ? mod + y : mod);
    F whole = floor(div);
    whole += div - whole > F(0.5) ? F(1) : F(0);
    return {(T)(div == 0 ? copysign(F(0), x / y) : whole), (T)mod};
  }
}
template <Real T> IRUKA_INLINE T floor_divide(T a, T b) { return divmod(a, b).quotient; }
template <Real T> IRUKA_INLINE T remainder(T a, T b) { return divmod(a, b).remainder; }
/// As C's fmod: the remainder has the dividend's sign.
template <Real T> IRUKA_INLINE T fmod(T a, T b) {
  if constexpr (!Integer<T>)
    return ::fmod(a, b);
  else if constexpr (is_signed<T>)
    return b == 0 || b == (T)-1 ? (T)0 : (T)(a % b);
  else
    return b == 0 ? (T)0 : (T)(a % b);
}

/// Integers wrap. A negative exponent gives the truncated result: 1, -1 or 0. Other types call ::pow.
template <class T> IRUKA_INLINE T power(T base, T exponent) {
  if constexpr (Integer<T>) {
    if constexpr (is_signed<T>) {
      if (exponent < 0) return base == 1 ? (T)1 : (base == (T)-1 ? (T)(exponent & 1 ? -1 : 1) : (T)0);
    }
    unsigned long long result = 1, square = (unsigned long long)base;
    for (T rest = exponent; rest != 0; rest = (T)(rest >> 1)) {
      if (rest & 1) result *= square;
      square *= square;
    }
    return (T)result;
  } else {
    return pow(base, exponent);
  }
}

/// The greatest common divisor: not negative, unless it overflows.
template <Integer T> IRUKA_INLINE T gcd(T a, T b) {
  while (b != 0) {
    T rest = fmod(a, b);
    a = b;
    b = rest;
  }
  return (T)abs(a);
}
template <Integer T> IRUKA_INLINE T lcm(T a, T b) {
  T divisor = gcd(a, b);
  return divisor == 0 ? (T)0 : (T)abs(wrapping_multiply((T)(a / divisor), b));
}

/// A shift by the type's width or more, or by a negative amount, gives 0, or -1 for right shifts of negative numbers.
template <Integer T> IRUKA_INLINE T left_shift(T a, T b) {
  return (unsigned long long)b < sizeof(T) * 8 ? (T)((unsigned long long)a << b) : (T)0;
}
template <Integer T> IRUKA_INLINE T right_shift(T a, T b) {
  return (unsigned long long)b < sizeof(T) * 8 ? (T)(a >> b) : (T)(a < (T)0 ? -1 : 0);
}

template <Real T> IRUKA_INLINE T sign(T x) {
  if constexpr (Integer<T>)
    return (T)((x > (T)0) - (x < (T)0));
  else
    return x > T(0) ? T(1) : (x < T(0) ? T(-1) : (x == T(0) ? T(0) : x));
}
/// As in NumPy 2: z / |z|, and 0 for 0.
template <class T> IRUKA_INLINE complex<T> sign(complex<T> z) {
  if (z == 0) return T(0);
  T length = abs(z);
  if (isinf(length) && !isnan(z)) {
    if (isinf(z.real_) && isinf(z.imag_)) return {(T)NAN, (T)NAN};
    return isinf(z.real_) ? complex<T>(copysign(T(1), z.real_), T(0)) : complex<T>(T(0), copysign(T(1), z.imag_));
  }
  return {z.real_ / length, z.imag_ / length};
}
template <Real T> IRUKA_INLINE T heaviside(T x, T at_zero) {
  return x == T(0) ? at_zero : (x < T(0) ? T(0) : (x > T(0) ? T(1) : x));
}

/// np.minimum and np.maximum: the first NaN is the result. Complex numbers compare in NumPy's order.
template <class T> IRUKA_INLINE T minimum(T a, T b) {
  if constexpr (Integer<T>)
    return a < b ? a : b;
  else
    return a < b || isnan(a) ? a : (isnan(b) || !(a == b) ? b : a);
}
template <class T> IRUKA_INLINE T maximum(T a, T b) {
  if constexpr (Integer<T>)
    return a > b ? a : b;
  else
    return a > b || isnan(a) ? a : (isnan(b) || !(a == b) ? b : a);
}
/// np.fmin and np.fmax: NaN only if both arguments are NaN.
template <class T> IRUKA_INLINE T fmin(T a, T b) {
  if constexpr (Integer<T>)
    return a < b ? a : b;
  else
    return isnan(b) || a < b || a == b ? a : b;
}
template <class T> IRUKA_INLINE T fmax(T a, T b) {
  if constexpr (Integer<T>)
    return a > b ? a : b;
  else
    return isnan(b) || a > b || a == b ? a : b;
}

template <Real T> IRUKA_INLINE T logaddexp(T a, T b) {
  using F = Compute<T>;
  F x = a, y = b, d = x - y;
  if (x == y) return (T)narrowed<T>(x + F(M_LN2));
  return (T)narrowed<T>((d > 0 ? x : y) + log1p(exp(-fabs(d))));
}
template <Real T> IRUKA_INLINE T logaddexp2(T a, T b) {
  using F = Compute<T>;
  F x = a, y = b, d = x - y;
  if (x == y) return (T)narrowed<T>(x + 1);
  return (T)narrowed<T>((d > 0 ? x : y) + F(M_LOG2E) * log1p(exp2(-fabs(d))));
}

/// Rounds half to even at `decimals` places, by scaling as NumPy does.
template <class T> IRUKA_INLINE T around(T x, int decimals) {
  if constexpr (number_kind<T> == NumberKind::none) {
    return {around(x.real_, decimals), around(x.imag_, decimals)};
  } else {
    using F = Compute<T>;
    F scale = (F)exp10((double)(decimals < 0 ? -decimals : decimals));
    if (decimals == 0) return (T)narrowed<T>(rint((F)x));
    return (T)narrowed<T>(decimals > 0 ? rint((F)x * scale) / scale : rint((F)x / scale) * scale);
  }
}
template <class T> IRUKA_INLINE complex<T> rint(complex<T> z) { return {::rint(z.real_), ::rint(z.imag_)}; }

/// The distance to the next number away from zero, with the sign of `x`. For zeros it is the least positive number.
template <Real T> IRUKA_INLINE T spacing(T x) {
  if (!isfinite(x)) return (T)NAN;
  return nextafter(x, x < T(0) ? (T)-INFINITY : (T)INFINITY) - x;
}
template <Real T> IRUKA_INLINE T deg2rad(T x) { return (T)narrowed<T>((Compute<T>)x * (Compute<T>)(M_PI / 180)); }
template <Real T> IRUKA_INLINE T rad2deg(T x) { return (T)narrowed<T>((Compute<T>)x * (Compute<T>)(180 / M_PI)); }
template <class T> IRUKA_INLINE T sinc(T x) {
  T y = x * T(M_PI);
  return x == T(0) ? T(1) : (T)(sin(y) / y);
}
template <class T> IRUKA_INLINE T square(T x) { return wrapping_multiply(x, x); }
/// 1 / x. Integers as in NumPy: 1 for 1, -1 for -1, otherwise 0.
template <class T> IRUKA_INLINE T reciprocal(T x) {
  if constexpr (Integer<T>)
    return x == (T)1 ? (T)1 : (is_signed<T> && x == (T)-1 ? (T)-1 : (T)0);
  else
    return (T)(T(1) / x);
}
/// np.clip: if low > high, the result is high.
template <class T> IRUKA_INLINE T clip(T x, T low, T high) { return minimum(maximum(x, low), high); }

}  // namespace iruka
