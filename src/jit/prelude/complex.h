// complex<float> and complex<double>, with the arithmetic and the elementary functions of NumPy.
#pragma once

#include "functions.h"

template <class T> struct complex {
  T real_, imag_;

  complex() = default;
  IRUKA_INLINE complex(T real, T imag) : real_(real), imag_(imag) {}
  template <iruka::Real S> IRUKA_INLINE complex(S real) : real_((T)real), imag_(0) {}
  template <class S> IRUKA_INLINE complex(const complex<S>& z) : real_((T)z.real()), imag_((T)z.imag()) {}
  IRUKA_INLINE explicit operator bool() const { return real_ != 0 || imag_ != 0; }

  IRUKA_INLINE T real() const { return real_; }
  IRUKA_INLINE T imag() const { return imag_; }
  IRUKA_INLINE void real(T value) { real_ = value; }
  IRUKA_INLINE void imag(T value) { imag_ = value; }

  IRUKA_INLINE complex operator+() const { return *this; }
  IRUKA_INLINE complex operator-() const { return {-real_, -imag_}; }
  template <class S> IRUKA_INLINE complex& operator+=(S z) { return *this = *this + z; }
  template <class S> IRUKA_INLINE complex& operator-=(S z) { return *this = *this - z; }
  template <class S> IRUKA_INLINE complex& operator*=(S z) { return *this = *this * z; }
  template <class S> IRUKA_INLINE complex& operator/=(S z) { return *this = *this / z; }
};

namespace thrust {
using ::complex;
}  // namespace thrust

namespace iruka {

/// The result type of complex<A> with B, which is real or the part type of another complex number. Integers and 16-bit
/// floats take A's precision.
template <class A, class B> using ComplexSum = complex<Choose<Floating<B>, Sum<A, Choose<Floating<B>, B, A>>, A>>;

}  // namespace iruka

#define IRUKA_COMPLEX_OPERATOR(op, both, right_real, left_real)                                           \
  template <class A, class B>                                                                             \
  IRUKA_INLINE iruka::ComplexSum<A, B> operator op(complex<A> x, complex<B> y) {                          \
    using Z = iruka::ComplexSum<A, B>;                                                                    \
    Z a = x, b = y;                                                                                       \
    return both;                                                                                          \
  }                                                                                                       \
  template <class A, iruka::Real B> IRUKA_INLINE iruka::ComplexSum<A, B> operator op(complex<A> x, B y) { \
    using Z = iruka::ComplexSum<A, B>;                                                                    \
    Z a = x;                                                                                              \
    decltype(a.real()) b = y;                                                                             \
    return right_real;                                                                                    \
  }                                                                                                       \
  template <class A, iruka::Real B> IRUKA_INLINE iruka::ComplexSum<A, B> operator op(B x, complex<A> y) { \
    using Z = iruka::ComplexSum<A, B>;                                                                    \
    Z b = y;                                                                                              \
    decltype(b.real()) a = x;                                                                             \
    return left_real;                                                                                     \
  }

namespace iruka {

/// Smith's algorithm, rounded as in NumPy: intermediate results do not overflow; division by zero gives infinity or NaN
/// in each part.
template <class T> IRUKA_INLINE complex<T> divide(complex<T> a, complex<T> b) {
  bool swap = fabs(b.real_) < fabs(b.imag_);
  T larger = swap ? b.imag_ : b.real_, smaller = swap ? b.real_ : b.imag_;
  if (larger == 0 && smaller == 0) return {a.real_ / fabs(larger), a.imag_ / fabs(larger)};
  T ratio = smaller / larger;
  T scale = 1 / (larger + smaller * ratio);
  if (swap) return {(a.real_ * ratio + a.imag_) * scale, (a.imag_ * ratio - a.real_) * scale};
  return {(a.real_ + a.imag_ * ratio) * scale, (a.imag_ - a.real_ * ratio) * scale};
}

}  // namespace iruka

IRUKA_COMPLEX_OPERATOR(+, (Z{a.real_ + b.real_, a.imag_ + b.imag_}), (Z{a.real_ + b, a.imag_}),
                       (Z{a + b.real_, b.imag_}))
IRUKA_COMPLEX_OPERATOR(-, (Z{a.real_ - b.real_, a.imag_ - b.imag_}), (Z{a.real_ - b, a.imag_}),
                       (Z{a - b.real_, -b.imag_}))
IRUKA_COMPLEX_OPERATOR(*, (Z{a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_}),
                       (Z{a.real_ * b, a.imag_ * b}), (Z{a * b.real_, a * b.imag_}))
IRUKA_COMPLEX_OPERATOR(/, iruka::divide(a, b), (Z{a.real_ / b, a.imag_ / b}), iruka::divide(Z(a), b))
#undef IRUKA_COMPLEX_OPERATOR

template <class A, class B> IRUKA_INLINE bool operator==(complex<A> a, complex<B> b) {
  return a.real_ == b.real_ && a.imag_ == b.imag_;
}
template <class A, iruka::Real B> IRUKA_INLINE bool operator==(complex<A> a, B b) {
  return a.real_ == b && a.imag_ == 0;
}

// NumPy's order: by real part, then by imaginary part; a NaN compares false.
#define IRUKA_COMPLEX_ORDER(op, strict)                                            \
  template <class T> IRUKA_INLINE bool operator op(complex<T> a, complex<T> b) {   \
    return (a.real_ strict b.real_ && a.imag_ == a.imag_ && b.imag_ == b.imag_) || \
           (a.real_ == b.real_ && a.imag_ op b.imag_);                             \
  }
IRUKA_COMPLEX_ORDER(<, <)
IRUKA_COMPLEX_ORDER(<=, <)
IRUKA_COMPLEX_ORDER(>, >)
IRUKA_COMPLEX_ORDER(>=, >)
#undef IRUKA_COMPLEX_ORDER

template <class T> IRUKA_INLINE T real(complex<T> z) { return z.real_; }
template <class T> IRUKA_INLINE T imag(complex<T> z) { return z.imag_; }
template <class T> IRUKA_INLINE complex<T> conj(complex<T> z) { return {z.real_, -z.imag_}; }
template <class T> IRUKA_INLINE T abs(complex<T> z) { return hypot(z.real_, z.imag_); }
template <class T> IRUKA_INLINE T arg(complex<T> z) { return atan2(z.imag_, z.real_); }
template <class T> IRUKA_INLINE T norm(complex<T> z) { return z.real_ * z.real_ + z.imag_ * z.imag_; }
template <class T> IRUKA_INLINE bool isnan(complex<T> z) { return isnan(z.real_) || isnan(z.imag_); }
template <class T> IRUKA_INLINE bool isinf(complex<T> z) { return isinf(z.real_) || isinf(z.imag_); }
template <class T> IRUKA_INLINE bool isfinite(complex<T> z) { return isfinite(z.real_) && isfinite(z.imag_); }
template <class T> IRUKA_INLINE complex<T> polar(T radius, T angle) {
  return {radius * cos(angle), radius * sin(angle)};
}
template <class T> IRUKA_INLINE complex<T> proj(complex<T> z) {
  return isinf(z) ? complex<T>((T)INFINITY, copysign((T)0, z.imag_)) : z;
}

namespace iruka {

template <class T> IRUKA_INLINE complex<T> times_i(complex<T> z) { return {-z.imag_, z.real_}; }
template <class T> IRUKA_INLINE complex<T> times_minus_i(complex<T> z) { return {z.imag_, -z.real_}; }
/// Above this value 1 + |z|^2 rounds to |z|^2; up to it squares do not overflow.
template <class T> inline constexpr T kHuge = is_same<T, float> ? T(1e10) : T(1e100);

/// exp(x) * factor * z, where exp(x) may overflow although the product does not.
template <class T> IRUKA_INLINE complex<T> scaled_by_exp(T x, complex<T> z, T factor = 1) {
  constexpr T kStep = is_same<T, float> ? T(64) : T(512);
  T first = fmin(fmax(x, -kStep), kStep), rest = x - first;
  T a = exp(first) * factor, b = exp(rest);
  return {z.real_ * a * b, z.imag_ * a * b};
}

/// x * y, rounded once: the compiler may not contract it into a fused multiply-add, which has another rounding error.
template <class T> IRUKA_INLINE T rounded_product(T x, T y) {
  if constexpr (is_same<T, float>)
    return __fmul_rn(x, y);
  else
    return __dmul_rn(x, y);
}

/// log |z|, accurate near |z| = 1, too: the sum |z|^2 - 1 includes the products' rounding errors.
template <class T> inline T log_abs(complex<T> z) {
  T x = fmax(fabs(z.real_), fabs(z.imag_)), y = fmin(fabs(z.real_), fabs(z.imag_));
  constexpr T kSmallest = is_same<T, float> ? T(0x1p-125) : T(0x1p-1021), kLift = is_same<T, float> ? T(64) : T(512);
  if (x > 0 && x < kSmallest && !isnan(z)) {  // hypot would round a subnormal |z| to few bits
    const T up = is_same<T, float> ? T(0x1p64) : T(0x1p512);
    return log(hypot(x * up, y * up)) - kLift * T(M_LN2);
  }
  if (!(x > T(0.5) && x < T(2)) || isnan(z)) {
    T scale = x >= kHuge<T> ? T(0.25) : T(1);
    return log(hypot(z.real_ * scale, z.imag_ * scale)) - (x >= kHuge<T> && isfinite(x) ? T(-2 * M_LN2) : T(0));
  }
  T xx = rounded_product(x, x), yy = rounded_product(y, y);
  T rest = fma(x, x, -xx) + fma(y, y, -yy);
  T base = xx - 1, sum = base + yy, part = sum - base;
  return T(0.5) * log1p(sum + ((base - (sum - part)) + (yy - part) + rest));
}

}  // namespace iruka

template <class T> inline complex<T> exp(complex<T> z) {
  T x = z.real_, y = z.imag_;
  if (y == 0) return {exp(x), y};
  if (!isfinite(y)) {
    if (isinf(x)) return x < 0 ? complex<T>(0, copysign(T(0), y)) : complex<T>(x, y - y);
    return {y - y, y - y};
  }
  if (isinf(x) && x < 0) return {copysign(T(0), cos(y)), copysign(T(0), sin(y))};
  if (isnan(x)) return {x, x};
  return iruka::scaled_by_exp(x, complex<T>(cos(y), sin(y)));
}

template <class T> inline complex<T> log(complex<T> z) { return {iruka::log_abs(z), arg(z)}; }
template <class T> inline complex<T> log2(complex<T> z) { return log(z) * T(M_LOG2E); }
template <class T> inline complex<T> log10(complex<T> z) { return log(z) * T(M_LOG10E); }

/// The root with real part >= 0. Scaling keeps |z| + |x| from overflow and keeps the bits of subnormals.
template <class T> inline complex<T> sqrt(complex<T> z) {
  T x = z.real_, y = z.imag_;
  if (x == 0 && y == 0) return {0, y};
  if (isinf(y)) return {(T)INFINITY, y};
  if (isnan(x)) return {x, x};
  if (isinf(x))
    return x > 0 ? complex<T>(x, isnan(y) ? y : copysign(T(0), y)) : complex<T>(fabs(y - y), copysign(x, y));
  bool large = fabs(x) >= iruka::kHuge<T> || fabs(y) >= iruka::kHuge<T>;
  bool small = fabs(x) < 1 / iruka::kHuge<T> && fabs(y) < 1 / iruka::kHuge<T>;
  T scale = large ? T(0.0625) : (small ? T(0x1p54) : T(1)), back = large ? T(4) : (small ? T(0x1p-27) : T(1));
  x *= scale, y *= scale;
  T root = sqrt((hypot(x, y) + fabs(x)) / 2), other = y / (2 * root);
  return x >= 0 ? complex<T>(root * back, other * back) : complex<T>(fabs(other) * back, copysign(root, y) * back);
}

/// Special cases follow C99, Annex G. Beyond exp's range, sinh and cosh use a scaled exp.
template <class T> inline complex<T> sinh(complex<T> z) {
  T x = z.real_, y = z.imag_;
  if (y == 0) return {sinh(x), y};
  if (!isfinite(y)) {
    if (x == 0) return {x, y - y};
    return {isinf(x) ? x : y - y, y - y};
  }
  if (fabs(x) > T(40)) {
    complex<T> half = iruka::scaled_by_exp(fabs(x), complex<T>(cos(y), sin(y)), T(0.5));
    return {copysign(T(1), x) * half.real_, half.imag_};
  }
  return {sinh(x) * cos(y), cosh(x) * sin(y)};
}
template <class T> inline complex<T> cosh(complex<T> z) {
  T x = z.real_, y = z.imag_;
  if (y == 0) return {cosh(x), x == 0 || isnan(x) ? copysign(T(0), x) * y : copysign(y, x * y)};
  if (x == 0 && isfinite(y)) return {cos(y), x * sin(y)};
  if (!isfinite(y)) {
    if (x == 0) return {y - y, x};
    return {isinf(x) ? fabs(x) : y - y, y - y};
  }
  if (fabs(x) > T(40)) {
    complex<T> half = iruka::scaled_by_exp(fabs(x), complex<T>(cos(y), sin(y)), T(0.5));
    return {half.real_, copysign(T(1), x) * half.imag_};
  }
  return {cosh(x) * cos(y), sinh(x) * sin(y)};
}

/// Kahan, "Branch cuts for complex elementary functions" (1987).
template <class T> inline complex<T> tanh(complex<T> z) {
  T x = z.real_, y = z.imag_;
  if (isinf(x)) return {copysign(T(1), x), copysign(T(0), isfinite(y) ? sin(y) * cos(y) : y)};
  if (y == 0) return {tanh(x), y};
  if (!isfinite(y)) return {x == 0 ? x : y - y, y - y};
  if (isnan(x)) return {x, x};
  if (fabs(x) > T(22)) {
    T decay = exp(-fabs(x));
    return {copysign(T(1), x), 4 * sin(y) * cos(y) * decay * decay};
  }
  T t = tan(y), beta = 1 + t * t, s = sinh(x), rho = sqrt(1 + s * s);
  if (isinf(t)) return {rho / s, 1 / t};
  T denominator = 1 + beta * s * s;
  return {beta * rho * s / denominator, t / denominator};
}
template <class T> inline complex<T> sin(complex<T> z) { return iruka::times_minus_i(sinh(iruka::times_i(z))); }
template <class T> inline complex<T> cos(complex<T> z) { return cosh(iruka::times_i(z)); }
template <class T> inline complex<T> tan(complex<T> z) { return iruka::times_minus_i(tanh(iruka::times_i(z))); }

/// The inverse functions use Kahan's formulas, and beyond kHuge logarithms.
template <class T> inline complex<T> asinh(complex<T> z) {
  T x = z.real_, y = z.imag_;
  if (y == 0 && isnan(x)) return z;
  if (fabs(x) >= iruka::kHuge<T> || fabs(y) >= iruka::kHuge<T>)
    return {copysign(iruka::log_abs(z) + T(M_LN2), x), copysign(atan2(fabs(y), fabs(x)), y)};
  complex<T> a = sqrt(complex<T>(1 + y, -x)), b = sqrt(complex<T>(1 - y, x));
  T imag = atan2(y, a.real_ * b.real_ - a.imag_ * b.imag_);
  return {asinh(a.real_ * b.imag_ - a.imag_ * b.real_), imag};
}
template <class T> inline complex<T> acos(complex<T> z) {
  T x = z.real_, y = z.imag_;
  if (x == 0 && isnan(y)) return {(T)M_PI_2, y};
  if (fabs(x) >= iruka::kHuge<T> || fabs(y) >= iruka::kHuge<T>)
    return {atan2(fabs(y), x), -copysign(iruka::log_abs(z) + T(M_LN2), y)};
  complex<T> a = sqrt(complex<T>(1 - x, -y)), b = sqrt(complex<T>(1 + x, y));
  return {2 * atan2(a.real_, b.real_), asinh(b.real_ * a.imag_ - b.imag_ * a.real_)};
}
template <class T> inline complex<T> acosh(complex<T> z) {
  complex<T> w = acos(z);
  return {fabs(w.imag_), copysign(w.real_, z.imag_)};
}
template <class T> inline complex<T> atanh(complex<T> z) {
  T x = z.real_, y = z.imag_;
  if (x == 0 && isnan(y)) return z;
  if (isinf(y)) return {copysign(T(0), x), copysign((T)M_PI_2, y)};
  if (isnan(x) || (isnan(y) && !isinf(x))) return {x + y, x + y};
  if (fabs(x) >= iruka::kHuge<T> || fabs(y) >= iruka::kHuge<T>) {
    T larger = fmax(fabs(x), fabs(y)), ratio = fmin(fabs(x), fabs(y)) / larger;
    T real = isinf(x) ? copysign(T(0), x) : x / larger / (1 + ratio * ratio) / larger;
    return {real, isnan(y) ? y : copysign((T)M_PI_2, y)};
  }
  T a = fabs(x), gap = 1 - a;
  T real = a == 1 && y == 0 ? (T)INFINITY
                            : (fabs(y) < 1 / iruka::kHuge<T> && gap == 0 ? T(0.5) * (T(M_LN2) - log(fabs(y)))
                                                                         : log1p(4 * a / (gap * gap + y * y)) / 4);
  return {copysign(real, x), atan2(2 * y, gap * (1 + a) - y * y) / 2};
}
template <class T> inline complex<T> asin(complex<T> z) { return iruka::times_minus_i(asinh(iruka::times_i(z))); }
template <class T> inline complex<T> atan(complex<T> z) { return iruka::times_minus_i(atanh(iruka::times_i(z))); }

namespace iruka {

/// As in C99, G.5.1: a part of an infinite factor becomes 1 or 0 with its sign, and a NaN in a finite factor 0.
template <class T> IRUKA_INLINE T direction(T part, bool is_infinite) {
  return copysign(is_infinite ? T(isinf(part)) : (isnan(part) ? T(0) : fabs(part)), part);
}

/// The product as in C99, G.5.1: infinite where a factor is, even if the plain formula gives NaN in both parts.
template <class T> IRUKA_INLINE complex<T> c_product(complex<T> a, complex<T> b) {
  const complex<T> z = a * b;
  if (!isnan(z.real_) || !isnan(z.imag_)) return z;
  const bool left = isinf(a), right = isinf(b);
  const bool overflows =
      isinf(a.real_ * b.real_) || isinf(a.imag_ * b.imag_) || isinf(a.real_ * b.imag_) || isinf(a.imag_ * b.real_);
  if (!left && !right && !overflows) return z;
  const complex<T> x(direction(a.real_, left), direction(a.imag_, left));
  const complex<T> y(direction(b.real_, right), direction(b.imag_, right));
  return (T)INFINITY * (x * y);
}

}  // namespace iruka

/// As in NumPy: small integer exponents use multiplication. Zero to a power with positive real part is zero, to another
/// power NaN.
template <class T> inline complex<T> pow(complex<T> base, complex<T> exponent) {
  T n = exponent.real_;
  if (n == 0 && exponent.imag_ == 0) return {1, 0};
  if (base.real_ == 0 && base.imag_ == 0) return n > 0 ? complex<T>(0, 0) : complex<T>((T)NAN, (T)NAN);
  if (exponent.imag_ == 0 && n == trunc(n) && fabs(n) < 100) {
    if (n == 1) return base;
    if (n == 2) return base * base;
    if (n == 3) return base * (base * base);
    complex<T> result(1, 0), square = base;
    for (int k = (int)fabs(n); k != 0; k >>= 1) {
      if (k & 1) result = result * square;
      square = square * square;
    }
    return n < 0 ? complex<T>(1, 0) / result : result;
  }
  return exp(iruka::c_product(exponent, log(base)));
}
template <class A, iruka::Real B> IRUKA_INLINE iruka::ComplexSum<A, B> pow(complex<A> base, B exponent) {
  using Z = iruka::ComplexSum<A, B>;
  return pow(Z(base), Z(exponent));
}
template <class A, iruka::Real B> IRUKA_INLINE iruka::ComplexSum<A, B> pow(B base, complex<A> exponent) {
  using Z = iruka::ComplexSum<A, B>;
  return pow(Z(base), Z(exponent));
}

namespace thrust {
using ::abs;
using ::acos;
using ::acosh;
using ::arg;
using ::asin;
using ::asinh;
using ::atan;
using ::atanh;
using ::conj;
using ::cos;
using ::cosh;
using ::exp;
using ::log;
using ::log10;
using ::norm;
using ::polar;
using ::pow;
using ::proj;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
}  // namespace thrust
