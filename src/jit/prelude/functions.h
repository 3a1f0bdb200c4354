// Math overloads for types other than float and double: exp(int) returns double; exp(float16) computes in float and
// returns float16. Also min, max and abs for every pair of numbers.
#pragma once

#include "float16.h"

#define IRUKA_PROMOTE_1(name) \
  template <iruka::Promoted A> IRUKA_INLINE iruka::Result<A> name(A x) { return name((iruka::Compute<A>)x); }
#define IRUKA_PROMOTE_2(name)                                   \
  template <class A, class B>                                   \
    requires iruka::is_promoted<A, B>                           \
  IRUKA_INLINE iruka::Result<iruka::Sum<A, B>> name(A x, B y) { \
    using Compute = iruka::Compute<iruka::Sum<A, B>>;           \
    return name((Compute)x, (Compute)y);                        \
  }
#define IRUKA_PROMOTE_TEST(name) \
  template <iruka::Promoted A> IRUKA_INLINE bool name(A x) { return name((iruka::Compute<A>)x); }

IRUKA_PROMOTE_1(exp)
IRUKA_PROMOTE_1(exp2)
IRUKA_PROMOTE_1(exp10)
IRUKA_PROMOTE_1(expm1)
IRUKA_PROMOTE_1(log)
IRUKA_PROMOTE_1(log2)
IRUKA_PROMOTE_1(log10)
IRUKA_PROMOTE_1(log1p)
IRUKA_PROMOTE_1(logb)
IRUKA_PROMOTE_1(sqrt)
IRUKA_PROMOTE_1(rsqrt)
IRUKA_PROMOTE_1(cbrt)
IRUKA_PROMOTE_1(rcbrt)
IRUKA_PROMOTE_1(sin)
IRUKA_PROMOTE_1(cos)
IRUKA_PROMOTE_1(tan)
IRUKA_PROMOTE_1(sinpi)
IRUKA_PROMOTE_1(cospi)
IRUKA_PROMOTE_1(asin)
IRUKA_PROMOTE_1(acos)
IRUKA_PROMOTE_1(atan)
IRUKA_PROMOTE_1(sinh)
IRUKA_PROMOTE_1(cosh)
IRUKA_PROMOTE_1(tanh)
IRUKA_PROMOTE_1(asinh)
IRUKA_PROMOTE_1(acosh)
IRUKA_PROMOTE_1(atanh)
IRUKA_PROMOTE_1(erf)
IRUKA_PROMOTE_1(erfc)
IRUKA_PROMOTE_1(erfinv)
IRUKA_PROMOTE_1(erfcinv)
IRUKA_PROMOTE_1(erfcx)
IRUKA_PROMOTE_1(normcdf)
IRUKA_PROMOTE_1(normcdfinv)
IRUKA_PROMOTE_1(tgamma)
IRUKA_PROMOTE_1(lgamma)
IRUKA_PROMOTE_1(j0)
IRUKA_PROMOTE_1(j1)
IRUKA_PROMOTE_1(y0)
IRUKA_PROMOTE_1(y1)
IRUKA_PROMOTE_1(cyl_bessel_i0)
IRUKA_PROMOTE_1(cyl_bessel_i1)
IRUKA_PROMOTE_1(fabs)
IRUKA_PROMOTE_1(floor)
IRUKA_PROMOTE_1(ceil)
IRUKA_PROMOTE_1(trunc)
IRUKA_PROMOTE_1(round)
IRUKA_PROMOTE_1(rint)
IRUKA_PROMOTE_1(nearbyint)
IRUKA_PROMOTE_2(atan2)
IRUKA_PROMOTE_2(hypot)
IRUKA_PROMOTE_2(rhypot)
IRUKA_PROMOTE_2(fmod)
IRUKA_PROMOTE_2(remainder)
IRUKA_PROMOTE_2(copysign)
IRUKA_PROMOTE_2(fmin)
IRUKA_PROMOTE_2(fmax)
IRUKA_PROMOTE_2(fdim)
IRUKA_PROMOTE_TEST(isnan)
IRUKA_PROMOTE_TEST(isinf)
IRUKA_PROMOTE_TEST(isfinite)
IRUKA_PROMOTE_TEST(signbit)
#undef IRUKA_PROMOTE_1
#undef IRUKA_PROMOTE_2
#undef IRUKA_PROMOTE_TEST

template <class A, class B>
  requires iruka::is_promoted<A, B>
IRUKA_INLINE iruka::Result<iruka::Sum<A, B>> pow(A x, B y) {
  using Compute = iruka::Compute<iruka::Sum<A, B>>;
  if (iruka::is_product(y, 2)) return (Compute)x * (Compute)x;
  if (iruka::is_product(y, 3)) return (Compute)x * (Compute)x * (Compute)x;
  return pow((Compute)x, (Compute)y);
}
template <class A, class B, class C>
  requires iruka::is_promoted<A, B, C>
IRUKA_INLINE iruka::Result<iruka::Sum<iruka::Sum<A, B>, C>> fma(A x, B y, C z) {
  using Compute = iruka::Compute<iruka::Sum<iruka::Sum<A, B>, C>>;
  return fma((Compute)x, (Compute)y, (Compute)z);
}
template <iruka::Small A> IRUKA_INLINE A fma(A x, A y, A z) { return iruka::fused_multiply_add(x, y, z); }
template <iruka::Promoted A> IRUKA_INLINE iruka::Result<A> ldexp(A x, int n) { return ldexp((iruka::Compute<A>)x, n); }
template <iruka::Promoted A> IRUKA_INLINE iruka::Result<A> frexp(A x, int* exponent) {
  return frexp((iruka::Compute<A>)x, exponent);
}
template <iruka::Small A> IRUKA_INLINE A modf(A x, A* integer) {
  float whole;
  A fraction = modf((float)x, &whole);
  *integer = whole;
  return fraction;
}
template <iruka::Small A> IRUKA_INLINE A nextafter(A x, A y) {
  return A::from_bits(iruka::next_bits(x, y, x.bits_, y.bits_, (uint16_t)0x8000));
}

/// The result has the common type. Of a number and NaN, the number is returned.
template <iruka::Real A, iruka::Real B> IRUKA_INLINE iruka::Sum<A, B> min(A x, B y) {
  using T = iruka::Sum<A, B>;
  if constexpr (iruka::Integer<T>)
    return (T)x < (T)y ? (T)x : (T)y;
  else
    return fmin((T)x, (T)y);
}
template <iruka::Real A, iruka::Real B> IRUKA_INLINE iruka::Sum<A, B> max(A x, B y) {
  using T = iruka::Sum<A, B>;
  if constexpr (iruka::Integer<T>)
    return (T)x > (T)y ? (T)x : (T)y;
  else
    return fmax((T)x, (T)y);
}
template <iruka::Real A> IRUKA_INLINE iruka::Sum<A, A> abs(A x) {
  using T = iruka::Sum<A, A>;
  if constexpr (iruka::Integer<T>)
    return (T)x < (T)0 ? (T)0 - (T)x : (T)x;
  else
    return fabs((T)x);
}
