// CUDA's math API on the CPU. Elementary functions call the C library by name, so that the compiler can replace them by
// vector versions; functions that take an instruction or two are defined here.
#pragma once

// The functions neither read nor write memory (errno included), so calls may be moved, merged and vectorised.
#define IRUKA_PURE noexcept __attribute__((const))
#define IRUKA_EXTERNAL_1(name)                \
  extern "C" double name(double) IRUKA_PURE;  \
  extern "C" float name##f(float) IRUKA_PURE; \
  IRUKA_INLINE float name(float x) { return name##f(x); }
#define IRUKA_EXTERNAL_2(name)                       \
  extern "C" double name(double, double) IRUKA_PURE; \
  extern "C" float name##f(float, float) IRUKA_PURE; \
  IRUKA_INLINE float name(float x, float y) { return name##f(x, y); }
IRUKA_EXTERNAL_1(exp)
IRUKA_EXTERNAL_1(exp2)
IRUKA_EXTERNAL_1(exp10)
IRUKA_EXTERNAL_1(expm1)
IRUKA_EXTERNAL_1(log)
IRUKA_EXTERNAL_1(log2)
IRUKA_EXTERNAL_1(log10)
IRUKA_EXTERNAL_1(sin)
IRUKA_EXTERNAL_1(cos)
IRUKA_EXTERNAL_1(tan)
IRUKA_EXTERNAL_1(asin)
IRUKA_EXTERNAL_1(acos)
IRUKA_EXTERNAL_1(atan)
IRUKA_EXTERNAL_1(tanh)
IRUKA_EXTERNAL_1(atanh)
IRUKA_EXTERNAL_1(cbrt)
IRUKA_EXTERNAL_1(erf)
IRUKA_EXTERNAL_1(erfc)
IRUKA_EXTERNAL_1(tgamma)
IRUKA_EXTERNAL_1(lgamma)
IRUKA_EXTERNAL_1(j0)
IRUKA_EXTERNAL_1(j1)
IRUKA_EXTERNAL_1(y0)
IRUKA_EXTERNAL_1(y1)
IRUKA_EXTERNAL_2(atan2)
IRUKA_EXTERNAL_2(hypot)
IRUKA_EXTERNAL_2(fmod)
IRUKA_EXTERNAL_2(remainder)
extern "C" double jn(int, double) IRUKA_PURE;
extern "C" float jnf(int, float) IRUKA_PURE;
extern "C" double yn(int, double) IRUKA_PURE;
extern "C" float ynf(int, float) IRUKA_PURE;
extern "C" double remquo(double, double, int*) noexcept;
extern "C" float remquof(float, float, int*) noexcept;
IRUKA_INLINE float jn(int n, float x) { return jnf(n, x); }
IRUKA_INLINE float yn(int n, float x) { return ynf(n, x); }
IRUKA_INLINE float remquo(float x, float y, int* quotient) { return remquof(x, y, quotient); }
#undef IRUKA_EXTERNAL_1
#undef IRUKA_EXTERNAL_2

// Functions that are processor instructions: a template for float and double, and the C name with suffix f.
#define IRUKA_BUILTIN_1(name, builtin)                                         \
  template <iruka::Floating T> IRUKA_INLINE T name(T x) { return builtin(x); } \
  IRUKA_INLINE float name##f(float x) { return builtin(x); }
#define IRUKA_BUILTIN_2(name, builtin)                                                 \
  template <iruka::Floating T> IRUKA_INLINE T name(T x, T y) { return builtin(x, y); } \
  IRUKA_INLINE float name##f(float x, float y) { return builtin(x, y); }
IRUKA_BUILTIN_1(sqrt, __builtin_elementwise_sqrt)
IRUKA_BUILTIN_1(fabs, __builtin_elementwise_abs)
IRUKA_BUILTIN_1(floor, __builtin_elementwise_floor)
IRUKA_BUILTIN_1(ceil, __builtin_elementwise_ceil)
IRUKA_BUILTIN_1(trunc, __builtin_elementwise_trunc)
IRUKA_BUILTIN_1(round, __builtin_elementwise_round)
IRUKA_BUILTIN_1(rint, __builtin_elementwise_rint)
IRUKA_BUILTIN_1(nearbyint, __builtin_elementwise_nearbyint)
IRUKA_BUILTIN_2(copysign, __builtin_elementwise_copysign)
IRUKA_BUILTIN_2(fmin, __builtin_elementwise_minnum)
IRUKA_BUILTIN_2(fmax, __builtin_elementwise_maxnum)
#undef IRUKA_BUILTIN_1
#undef IRUKA_BUILTIN_2

// The library's vector versions give infinity where a square or a power inside them overflows. Beyond that argument the
// result is computed from a smaller one. `inside` is the library's function.
#define IRUKA_FAR_1(name, inside, body)                                                 \
  namespace iruka {                                                                     \
  extern "C" double inside(double) noexcept __asm__(#name) __attribute__((const));      \
  extern "C" float inside##f(float) noexcept __asm__(#name "f") __attribute__((const)); \
  IRUKA_INLINE float inside(float x) { return inside##f(x); }                           \
  }                                                                                     \
  template <iruka::Floating T> IRUKA_INLINE T name(T x) {                               \
    using iruka::inside;                                                                \
    body                                                                                \
  }                                                                                     \
  IRUKA_INLINE float name##f(float x) { return name(x); }
#define IRUKA_LOGARITHM(name, inside, root)                                      \
  IRUKA_FAR_1(name, inside, {                                                    \
    const bool far = fabs(x) > T(sizeof(T) == sizeof(float) ? 0x1p60 : 0x1p500); \
    const T y = inside(far ? copysign(sqrt(root), x) : x);                       \
    return far ? 2 * y : y;                                                      \
  })
#define IRUKA_EXPONENTIAL(name, inside)                                  \
  IRUKA_FAR_1(name, inside, {                                            \
    const bool far = fabs(x) > T(sizeof(T) == sizeof(float) ? 80 : 700); \
    const T y = inside(far ? x - copysign(T(8), x) : x);                 \
    return far ? y * T(2980.957987041728275) : y; /* exp(8) */           \
  })
IRUKA_LOGARITHM(asinh, library_asinh, fabs(x) / 2)
IRUKA_LOGARITHM(acosh, library_acosh, fabs(x) / 2)
IRUKA_LOGARITHM(log1p, library_log1p, fabs(x))
IRUKA_EXPONENTIAL(sinh, library_sinh)
IRUKA_EXPONENTIAL(cosh, library_cosh)
#undef IRUKA_LOGARITHM
#undef IRUKA_EXPONENTIAL
#undef IRUKA_FAR_1

// The library's vector versions of pow give infinity a little below the largest number. There pow(x, y / 2) is squared.
namespace iruka {
extern "C" double library_pow(double, double) noexcept __asm__("pow") __attribute__((const));
extern "C" float library_powf(float, float) noexcept __asm__("powf") __attribute__((const));
IRUKA_INLINE float library_pow(float x, float y) { return library_powf(x, y); }
}  // namespace iruka
template <iruka::Floating T> IRUKA_INLINE T pow(T x, T y) {
  if (y == T(2)) return x * x;
  if (y == T(3)) return x * x * x;
  const T power = iruka::library_pow(x, y);
  if (fabs(power) != T(INFINITY) || fabs(y) < T(0.5)) return power;
  const T root = iruka::library_pow(fabs(x), y / 2);
  return copysign(root * root, power);
}
IRUKA_INLINE float powf(float x, float y) { return pow(x, y); }
#undef IRUKA_PURE
template <iruka::Floating T> IRUKA_INLINE T fma(T x, T y, T z) { return __builtin_elementwise_fma(x, y, z); }
IRUKA_INLINE float fmaf(float x, float y, float z) { return __builtin_elementwise_fma(x, y, z); }
template <iruka::Floating T> IRUKA_INLINE bool isnan(T x) { return __builtin_isnan(x); }
template <iruka::Floating T> IRUKA_INLINE bool isinf(T x) { return __builtin_isinf(x); }
template <iruka::Floating T> IRUKA_INLINE bool isfinite(T x) { return __builtin_isfinite(x); }
template <iruka::Floating T> IRUKA_INLINE bool signbit(T x) { return iruka::to_bits(x) >> (sizeof(T) * 8 - 1); }

namespace iruka {

template <class T> IRUKA_INLINE T next_after(T x, T y) {
  using Bits = typename FloatFormat<T>::Bits;
  return from_bits<T>(next_bits(x, y, to_bits(x), to_bits(y), (Bits)((Bits)1 << (sizeof(T) * 8 - 1))));
}

/// x * 2^n, rounded once: of three factors only the last one rounds (musl's scalbn).
template <class T> IRUKA_INLINE T scale_by_power(T x, int n) {
  using Format = FloatFormat<T>;
  using Bits = typename Format::Bits;
  constexpr int kLowest = 1 - Format::kBias + Format::kMantissa + 1;
  n = n > 4 * Format::kBias ? 4 * Format::kBias : (n < -4 * Format::kBias ? -4 * Format::kBias : n);
  for (int step = 0; step < 2; ++step) {
    int part = n > Format::kBias ? Format::kBias : (n < 1 - Format::kBias ? kLowest : 0);
    x *= from_bits<T>((Bits)(part + Format::kBias) << Format::kMantissa);
    n -= part;
  }
  n = n > Format::kBias ? Format::kBias : (n < 1 - Format::kBias ? 1 - Format::kBias : n);
  return x * from_bits<T>((Bits)(n + Format::kBias) << Format::kMantissa);
}

/// x = m * 2^exponent with 0.5 <= |m| < 1. Zero, infinity and NaN give themselves and exponent 0.
template <class T> IRUKA_INLINE T split_exponent(T x, int* exponent) {
  using Format = FloatFormat<T>;
  using Bits = typename Format::Bits;
  constexpr Bits kField = ((Bits)2 * Format::kBias + 1) << Format::kMantissa;
  bool tiny = (to_bits(x) & kField) == 0;
  Bits bits = to_bits(tiny ? x * from_bits<T>((Bits)(Format::kBias + 64) << Format::kMantissa) : x);
  int field = (int)((bits & kField) >> Format::kMantissa);
  bool special = x == T(0) || (to_bits(x) & kField) == kField;
  *exponent = special ? 0 : field - (Format::kBias - 1) - (tiny ? 64 : 0);
  return special ? x : from_bits<T>((bits & ~kField) | (Bits)(Format::kBias - 1) << Format::kMantissa);
}

template <class T> IRUKA_INLINE int integer_log(T x) {
  int exponent;
  split_exponent(x, &exponent);
  return x == T(0) ? INT_MIN : (isnan(x) || isinf(x) ? INT_MAX : exponent - 1);
}

template <class T> IRUKA_INLINE T split_integer(T x, T* integer) {
  *integer = trunc(x);
  return copysign(isinf(x) ? T(0) : x - *integer, x);
}

template <class T> IRUKA_INLINE T sin_of_pi(T x) {
  T turns = x - 2 * rint(x / 2);
  T half = fabs(turns) > T(0.5) ? 1 - fabs(turns) : fabs(turns);
  return copysign(sin(T(M_PI) * half), half == T(0) ? x : turns);
}
template <class T> IRUKA_INLINE T cos_of_pi(T x) {
  T turns = fabs(x - 2 * rint(x / 2));
  if (turns >= T(0.25) && turns <= T(0.75)) return sin(T(M_PI) * (T(0.5) - turns));
  return turns < T(0.25) ? cos(T(M_PI) * turns) : -cos(T(M_PI) * (1 - turns));
}

/// The polynomial with these coefficients, from the highest power to the lowest.
template <class... C> IRUKA_INLINE double polynomial(double x, double highest, C... others) {
  ((highest = highest * x + others), ...);
  return highest;
}

/// The normal quantile for probability 0.5 + `offset`; `tail` is the smaller of p and 1 - p. Wichura, AS 241 (1988).
template <Floating T> inline double normal_quantile(T offset, double tail) {
  if (fabs(offset) <= 0.425) {
    double r = 0.180625 - (double)offset * offset;
    return offset *
           polynomial(r, 2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
                      4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
                      1.3314166789178437745e+2, 3.3871328727963666080e0) /
           polynomial(r, 5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
                      2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
                      4.2313330701600911252e+1, 1.0);
  }
  if (!(tail > 0)) return tail == 0 ? copysign((double)INFINITY, (double)offset) : NAN;
  double r = sqrt(-log(tail));
  double z;
  if (r <= 5) {
    r -= 1.6;
    z = polynomial(r, 7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                   1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
                   4.63033784615654529590e0, 1.42343711074968357734e0) /
        polynomial(r, 1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
                   1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
                   2.05319162663775882187e0, 1.0);
  } else {
    r -= 5;
    z = polynomial(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                   2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
                   5.46378491116411436990e0, 6.65790464350110377720e0) /
        polynomial(r, 2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
                   7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
                   5.99832206555887937690e-1, 1.0);
  }
  return copysign(z, (double)offset);
}

/// Modified Bessel functions: the power series, whose terms are all positive, up to 30; Hankel's asymptotic series
/// beyond.
template <Floating T> inline double bessel_i(int order, T x) {
  T a = fabs(x), term = order ? a / 2 : 1, sum = term;
  if (a <= 30) {
    for (int k = 1; k < 80; ++k) {
      term *= a / 2 * (a / 2) / ((double)k * (k + order));
      sum += term;
    }
  } else {
    double series = 1, factor = 1;
    for (int k = 1; k < 24; ++k) {
      factor *= -(4.0 * order - (2 * k - 1.0) * (2 * k - 1)) / (8 * k * a);
      series += factor;
    }
    double root = exp(a / 2);
    sum = root * (series / sqrt(2 * M_PI * a)) * root;
  }
  return order && x < 0 ? -sum : sum;
}

/// erfc(-x / sqrt 2) / 2, corrected to first order for the quotient's rounding error.
template <Floating T> inline double normal_cdf(T x) {
  T t = -x * M_SQRT1_2;
  double error = fma(-x, M_SQRT1_2, -t) + x * 4.8336466567264567e-17;
  double value = erfc(t);
  if (fabs(t) < 27) value -= M_2_SQRTPI * exp(-t * t) * error;
  return 0.5 * value;
}

}  // namespace iruka

// Every name is a template, so that only the functions a body uses are instantiated.
#define IRUKA_NAMES_1(name, expression)                                             \
  template <iruka::Floating T> IRUKA_INLINE T name(T x) { return (T)(expression); } \
  IRUKA_INLINE float name##f(auto x) { return name((float)x); }
#define IRUKA_NAMES_2(name, expression)                                                  \
  template <iruka::Floating T> IRUKA_INLINE T name(T x, T y) { return (T)(expression); } \
  IRUKA_INLINE float name##f(auto x, auto y) { return name((float)x, (float)y); }
IRUKA_NAMES_1(rsqrt, 1 / sqrt(x))
IRUKA_NAMES_1(rcbrt, 1 / cbrt(x))
IRUKA_NAMES_1(sinpi, iruka::sin_of_pi(x))
IRUKA_NAMES_1(cospi, iruka::cos_of_pi(x))
IRUKA_NAMES_1(logb, x == 0 ? -T(INFINITY) : (isfinite(x) ? (T)iruka::integer_log(x) : x * x))
IRUKA_NAMES_1(erfinv, M_SQRT1_2* iruka::normal_quantile((T)0.5 * x, 0.5 * (1 - fabs((double)x))))
IRUKA_NAMES_1(erfcinv, -M_SQRT1_2* iruka::normal_quantile(0.5 * ((double)x - 1), 0.5 * fmin((double)x, 2 - (double)x)))
IRUKA_NAMES_1(normcdf, iruka::normal_cdf((double)x))
IRUKA_NAMES_1(normcdfinv, iruka::normal_quantile((double)x - 0.5, fmin((double)x, 1 - (double)x)))
IRUKA_NAMES_1(cyl_bessel_i0, iruka::bessel_i(0, (double)x))
IRUKA_NAMES_1(cyl_bessel_i1, iruka::bessel_i(1, (double)x))
IRUKA_NAMES_2(rhypot, 1 / hypot(x, y))
IRUKA_NAMES_2(nextafter, iruka::next_after(x, y))
IRUKA_NAMES_2(fdim, x > y ? x - y : (x != x || y != y ? x + y : 0))
#undef IRUKA_NAMES_1
#undef IRUKA_NAMES_2

// Functions with an integer as second argument or result, or with results through pointers.
#define IRUKA_NAMES_N(result, name, expression)                                             \
  template <iruka::Floating T> IRUKA_INLINE result name(T x, auto n) { return expression; } \
  IRUKA_INLINE auto name##f(auto x, auto n) { return name((float)x, n); }
IRUKA_NAMES_N(T, scalbn, iruka::scale_by_power(x, (int)n))
IRUKA_NAMES_N(T, scalbln, iruka::scale_by_power(x, n > 9999 ? 9999 : (n < -9999 ? -9999 : (int)n)))
IRUKA_NAMES_N(T, ldexp, iruka::scale_by_power(x, (int)n))
IRUKA_NAMES_N(T, frexp, iruka::split_exponent(x, n))
IRUKA_NAMES_N(T, modf, iruka::split_integer(x, n))
#undef IRUKA_NAMES_N
#define IRUKA_NAMES_I(result, name, expression)                                     \
  template <iruka::Floating T> IRUKA_INLINE result name(T x) { return expression; } \
  IRUKA_INLINE result name##f(auto x) { return name((float)x); }
IRUKA_NAMES_I(int, ilogb, iruka::integer_log(x))
IRUKA_NAMES_I(long, lrint, (long)rint(x))
IRUKA_NAMES_I(long long, llrint, (long long)rint(x))
IRUKA_NAMES_I(long, lround, (long)round(x))
IRUKA_NAMES_I(long long, llround, (long long)round(x))
#undef IRUKA_NAMES_I
template <iruka::Floating T> IRUKA_INLINE void sincos(T x, T* s, T* c) { *s = sin(x), *c = cos(x); }
template <iruka::Floating T> IRUKA_INLINE void sincospi(T x, T* s, T* c) { *s = sinpi(x), *c = cospi(x); }
IRUKA_INLINE void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
IRUKA_INLINE void sincospif(auto x, float* s, float* c) { sincospi((float)x, s, c); }

// CUDA's fast intrinsics are the accurate functions here, because less accuracy saves no time on a CPU.
#define IRUKA_FAST(name) \
  IRUKA_INLINE float __##name(float x) { return name(x); }
IRUKA_FAST(expf)
IRUKA_FAST(exp10f)
IRUKA_FAST(logf)
IRUKA_FAST(log2f)
IRUKA_FAST(log10f)
IRUKA_FAST(sinf)
IRUKA_FAST(cosf)
IRUKA_FAST(tanf)
IRUKA_FAST(tanhf)
#undef IRUKA_FAST
IRUKA_INLINE float __powf(float x, float y) { return powf(x, y); }
IRUKA_INLINE void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
IRUKA_INLINE float __fdividef(float x, float y) { return x / y; }
IRUKA_INLINE float fdividef(float x, float y) { return x / y; }
IRUKA_INLINE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
IRUKA_INLINE float __frsqrt_rn(float x) { return (float)(1 / __builtin_elementwise_sqrt((double)x)); }
#define IRUKA_ROUNDED(T, prefix, sqrt)                          \
  IRUKA_INLINE T __##prefix##add_rn(T x, T y) { return x + y; } \
  IRUKA_INLINE T __##prefix##sub_rn(T x, T y) { return x - y; } \
  IRUKA_INLINE T __##prefix##mul_rn(T x, T y) { return x * y; } \
  IRUKA_INLINE T __##prefix##div_rn(T x, T y) { return x / y; } \
  IRUKA_INLINE T __##prefix##rcp_rn(T x) { return 1 / x; }      \
  IRUKA_INLINE T __##prefix##sqrt_rn(T x) { return sqrt(x); }
IRUKA_ROUNDED(float, f, sqrtf)
IRUKA_ROUNDED(double, d, __builtin_elementwise_sqrt)
#undef IRUKA_ROUNDED
IRUKA_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
IRUKA_INLINE double __fma_rn(double x, double y, double z) { return __builtin_elementwise_fma(x, y, z); }

#define IRUKA_CONVERT(from, to, T)                                                          \
  IRUKA_INLINE T __##from##2##to##_rn(from x) { return (T)__builtin_elementwise_rint(x); }  \
  IRUKA_INLINE T __##from##2##to##_rz(from x) { return (T)x; }                              \
  IRUKA_INLINE T __##from##2##to##_rd(from x) { return (T)__builtin_elementwise_floor(x); } \
  IRUKA_INLINE T __##from##2##to##_ru(from x) { return (T)__builtin_elementwise_ceil(x); }  \
  IRUKA_INLINE from __##to##2##from##_rn(T x) { return (from)x; }
IRUKA_CONVERT(float, int, int)
IRUKA_CONVERT(float, uint, unsigned)
IRUKA_CONVERT(float, ll, long long)
IRUKA_CONVERT(float, ull, unsigned long long)
IRUKA_CONVERT(double, int, int)
IRUKA_CONVERT(double, uint, unsigned)
IRUKA_CONVERT(double, ll, long long)
IRUKA_CONVERT(double, ull, unsigned long long)
#undef IRUKA_CONVERT
IRUKA_INLINE float __double2float_rn(double x) { return (float)x; }

IRUKA_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
IRUKA_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
IRUKA_INLINE int __clz(int x) { return __builtin_clzg((unsigned)x, 32); }
IRUKA_INLINE int __clzll(long long x) { return __builtin_clzg((unsigned long long)x, 64); }
IRUKA_INLINE int __ffs(int x) { return __builtin_ctzg((unsigned)x, -1) + 1; }
IRUKA_INLINE int __ffsll(long long x) { return __builtin_ctzg((unsigned long long)x, -1) + 1; }
IRUKA_INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
IRUKA_INLINE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
IRUKA_INLINE int __mul24(int x, int y) { return (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8)); }
IRUKA_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
IRUKA_INLINE int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
IRUKA_INLINE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
IRUKA_INLINE long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
IRUKA_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
IRUKA_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }
IRUKA_INLINE unsigned __sad(int x, int y, unsigned z) {
  return (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x) + z;
}
IRUKA_INLINE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
IRUKA_INLINE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
IRUKA_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
IRUKA_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
/// The bytes of y:x that the four low nibbles of `selector` choose by their three low bits.
IRUKA_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (int k = 0; k < 4; ++k) result |= ((unsigned)(bytes >> (8 * (selector >> (4 * k) & 7))) & 0xffu) << (8 * k);
  return result;
}

// Cache hints of GPU code are plain loads and stores here.
#define IRUKA_LOAD(name) \
  template <class T> IRUKA_INLINE T name(const T* p) { return *p; }
#define IRUKA_STORE(name) \
  template <iruka::Mutable T> IRUKA_INLINE void name(T* p, iruka::Same<T> value) { *p = value; }
IRUKA_LOAD(__ldg)
IRUKA_LOAD(__ldca)
IRUKA_LOAD(__ldcg)
IRUKA_LOAD(__ldcs)
IRUKA_LOAD(__ldlu)
IRUKA_LOAD(__ldcv)
IRUKA_STORE(__stwb)
IRUKA_STORE(__stcg)
IRUKA_STORE(__stcs)
IRUKA_STORE(__stwt)
#undef IRUKA_LOAD
#undef IRUKA_STORE
