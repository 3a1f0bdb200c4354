// What the bodies of elementwise_table.cpp call: kernel-language texts, one for each family of functions.
// Only a row's own family is put before its body, so that a kernel compiles in milliseconds.
#pragma once

namespace iruka::ops {

/// What makes functions raise exceptions that do not by themselves, so that whoever launched learns of results to look
/// at (python/iruka/_float_errors.py): each returns what it is given, or what gives the same result.
inline constexpr const char* kTold = R"(
namespace op {
#ifdef __CUDA_ARCH__
template <class T> inline T told(T result) { return result; }
template <class T> inline T told(T result, T) { return result; }
template <class T> inline T bounded(T x, float) { return x; }
#else
// The result itself, told of where `scaled` is infinite or NaN: infinity times zero and the processor's minimum with NaN
// are invalid operations.
template <class F> inline F told(F result, F scaled) {
#ifdef __FMA__
  const F above = fma(scaled, F(0), F(INFINITY));
#else
  const F above = scaled * F(0) + F(INFINITY);
#endif
  return above < result ? above : result;  // never above
}
template <class F> inline F told(F result) { return told(result, result); }
template <class F> inline complex<F> told(complex<F> x) { return complex<F>(told(x.real()), told(x.imag())); }
// For exponentials, which overflow by computing up to some limit alone: that of float, and eight times it of double.
template <class T> inline T bounded(T x, float) { return x; }
inline float bounded(float x, float limit) { return limit < x ? limit : x; }
inline double bounded(double x, float limit) { return 8 * limit < x ? 8 * limit : x; }
#endif
}
)";

/// Python's division: NumPy's npy_divmod for floats; floor for integers, where x / 0 is 0 and the smallest / -1 wraps.
inline constexpr const char* kDivision = R"(
namespace op {
#ifdef __CUDA_ARCH__
// CUDA leaves undefined what divisions by zero, and of the smallest number by -1, give.
template <class T> inline constexpr bool is_signed = T(-1) < T(0);
template <class T> inline T floor_divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (is_signed<T>) {
    if (b == T(-1)) return T(-a);
    return T(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));
  }
  return T(a / b);
}
template <class T> inline T truncated_remainder(T a, T b) {
  if (b == 0 || (is_signed<T> && b == T(-1))) return 0;
  return T(a % b);
}
template <class T> inline T remainder(T a, T b) {
  const T r = truncated_remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
}
#else
// 0, after the exception of floats that tells of a division of integers by zero: the last bit of infinity is 0. Lanes
// jump over a side that none of them takes where it has calls, as that of sqrt.
template <class T> inline T by_zero(T a, T zero) {
  return T(__float_as_int(sqrt(fabs(float(a) + 0.5f)) / float(zero)) & 1);
}
template <class T> inline T floor_divide(T a, T b) {
  if (b == 0) return by_zero(a, b);
  const T quotient = T(a / b), rest = T(a - quotient * b);
  return T(quotient - ((rest != 0) & ((rest < 0) != (b < 0))));
}
template <class T> inline T truncated_remainder(T a, T b) { return b == 0 ? by_zero(a, b) : T(a % b); }
template <class T> inline T remainder(T a, T b) {
  const T rest = T(a % b), moved = (rest != 0) & ((rest < 0) != (b < 0)) ? T(rest + b) : rest;
  return b == 0 ? by_zero(a, b) : moved;
}
#endif
template <class T> inline T float_floor_divide(T a, T b) {
  if (b == 0) return a / b;
  const T mod = fmod(a, b);
  T div = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) div -= T(1);
  if (div == 0) return copysign(T(0), a / b);
  const T whole = floor(div);
  return div - whole > T(0.5) ? whole + T(1) : whole;
}
template <class T> inline T float_remainder(T a, T b) {
  const T mod = fmod(a, b);
  if (b == 0) return mod;
  if (mod == 0) return copysign(T(0), b);
  return (b < 0) != (mod < 0) ? mod + b : mod;
}
inline float floor_divide(float a, float b) { return float_floor_divide(a, b); }
inline double floor_divide(double a, double b) { return float_floor_divide(a, b); }
inline float remainder(float a, float b) { return float_remainder(a, b); }
inline double remainder(double a, double b) { return float_remainder(a, b); }
inline float truncated_remainder(float a, float b) { return fmod(a, b); }
inline double truncated_remainder(double a, double b) { return fmod(a, b); }
}
)";

/// Integers by repeated squaring, wrapping.
inline constexpr const char* kPower = R"(
namespace op {
template <class T, class N> inline T repeated_square(T base, N exponent) {
  T result = T(1);
  for (; exponent != 0; exponent = N(exponent >> 1)) {
    if (exponent & 1) result = T(result * base);
    base = T(base * base);
  }
  return result;
}
template <class T> inline T power(T base, T exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base != T(-1) ? T(0) : exponent & 1 ? T(-1) : T(1);
  return repeated_square(base, exponent);
}
inline float power(float base, float exponent) { return exponent == 1 ? base : pow(base, exponent); }
inline double power(double base, double exponent) { return exponent == 1 ? base : pow(base, exponent); }
template <class F> inline complex<F> power(complex<F> base, complex<F> exponent) { return pow(base, exponent); }
}
)";

inline constexpr const char* kAbsolute = R"(
namespace op {
template <class T> inline T absolute(T x) { return x < T(0) ? T(-x) : x; }
inline bool absolute(bool x) { return x; }
inline float absolute(float x) { return fabs(x); }
inline double absolute(double x) { return fabs(x); }
template <class F> inline F absolute(complex<F> x) { return hypot(x.real(), x.imag()); }
}
)";

inline constexpr const char* kSign = R"(
namespace op {
template <class T> inline T sign(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x == T(0) ? T(0) : x; }
template <class F> inline complex<F> sign(complex<F> z) {
  const F larger = fmax(fabs(z.real()), fabs(z.imag()));
  // So that |z| neither overflows nor is subnormal; the second is 2 ** 64.
  const F scale = larger > F(1) ? F(0.5) : larger < F(1e-19) ? F(18446744073709551616.0) : F(1);
  const F x = z.real() * scale, y = z.imag() * scale;
  const bool infinite = fabs(x) == F(INFINITY) || fabs(y) == F(INFINITY);
  const F length = infinite ? F(INFINITY) : hypot(x, y);
  if (length == 0) return complex<F>(0, 0);
  if (length != length) return complex<F>(length, length);
  if (length - length == 0) return complex<F>(x / length, y / length);
  const bool x_infinite = fabs(x) == F(INFINITY), y_infinite = fabs(y) == F(INFINITY);
  if (x_infinite && y_infinite) return complex<F>(F(NAN), F(NAN));
  return y_infinite ? complex<F>(0, copysign(F(1), y)) : complex<F>(copysign(F(1), x), 0);
}
/// Of 1, -1 and floats the quotient, of other integers 0: the division raises what NumPy's does.
template <class T> inline T reciprocal(T x) {
  if constexpr (T(0.5f) != T(0)) return T(1) / x;
  const float quotient = 1 / float(x);
  return quotient == 1 || quotient == -1 ? x : T(0);
}
template <class F> inline complex<F> reciprocal(complex<F> x) {
  if (fabs(x.imag()) <= fabs(x.real())) {
    const F ratio = x.imag() / x.real(), denominator = x.real() + x.imag() * ratio;
    return complex<F>(F(1) / denominator, -ratio / denominator);
  }
  const F ratio = x.real() / x.imag(), denominator = x.imag() + x.real() * ratio;
  return complex<F>(ratio / denominator, F(-1) / denominator);
}
}
)";

/// Complex numbers are ordered by real, then imaginary part; one with a NaN is a NaN.
inline constexpr const char* kExtrema = R"(
namespace op {
template <class T> inline bool is_nan(T x) { return x != x; }
template <class F> inline bool is_nan(complex<F> x) { return x.real() != x.real() || x.imag() != x.imag(); }
template <class T> inline bool not_less(T a, T b) { return a >= b; }
template <class F> inline bool not_less(complex<F> a, complex<F> b) {
  if (is_nan(a) || is_nan(b)) return false;
  return a.real() > b.real() || (a.real() == b.real() && a.imag() >= b.imag());
}
template <class T> inline T maximum(T a, T b) { return not_less(a, b) || is_nan(a) ? a : b; }
template <class T> inline T minimum(T a, T b) { return not_less(b, a) || is_nan(a) ? a : b; }
template <class T> inline T fmax(T a, T b) { return not_less(a, b) || is_nan(b) ? a : b; }
template <class T> inline T fmin(T a, T b) { return not_less(b, a) || is_nan(b) ? a : b; }
}
)";

/// As NumPy's clip compares: of complex numbers an imaginary NaN counts where the real parts are equal only.
inline constexpr const char* kClip = R"(
namespace op {
template <class T> inline bool is_nan(T x) { return x != x; }
template <class F> inline bool is_nan(complex<F> x) { return x.real() != x.real() || x.imag() != x.imag(); }
template <class T> inline bool is_less(T a, T b) { return a < b; }
template <class F> inline bool is_less(complex<F> a, complex<F> b) {
  return a.real() == b.real() ? a.imag() < b.imag() : a.real() < b.real();
}
template <class T> inline T clip(T x, T low, T high) {
  const T raised = is_nan(x) || is_less(low, x) ? x : low;
  return is_nan(raised) || is_less(raised, high) ? raised : high;
}
}
)";

inline constexpr const char* kGcd = R"(
namespace op {
template <int Bytes> struct Magnitude { using type = unsigned; };
template <> struct Magnitude<8> { using type = unsigned long long; };
template <class T> inline auto magnitude(T x) {
  using U = typename Magnitude<sizeof(T)>::type;
  return x < T(0) ? U(0) - U(x) : U(x);
}
template <class T> inline T gcd(T x, T y) {
  auto a = magnitude(x), b = magnitude(y);
  while (b != 0) {
    const auto rest = a % b;
    a = b;
    b = rest;
  }
  return T(a);
}
template <class T> inline T lcm(T a, T b) {
  const auto divisor = magnitude(gcd(a, b));
  return divisor == 0 ? T(0) : T(magnitude(a) / divisor * magnitude(b));
}
}
)";

inline constexpr const char* kRounding = R"(
namespace op {
template <class T> inline T floor(T x) { return x; }
template <class T> inline T ceil(T x) { return x; }
template <class T> inline T trunc(T x) { return x; }
inline float floor(float x) { return ::floor(x); }
inline float ceil(float x) { return ::ceil(x); }
inline float trunc(float x) { return ::trunc(x); }
inline double floor(double x) { return ::floor(x); }
inline double ceil(double x) { return ::ceil(x); }
inline double trunc(double x) { return ::trunc(x); }
inline float rint(float x) { return ::rint(x); }
inline double rint(double x) { return ::rint(x); }
template <class F> inline complex<F> rint(complex<F> x) { return complex<F>(::rint(x.real()), ::rint(x.imag())); }
}
)";

inline constexpr const char* kComplexParts = R"(
namespace op {
template <class T> inline T conjugate(T x) { return x; }
template <class F> inline complex<F> conjugate(complex<F> x) { return complex<F>(x.real(), -x.imag()); }
template <class T> inline T real(T x) { return x; }
template <class F> inline F real(complex<F> x) { return x.real(); }
template <class T> inline T imaginary(T) { return T(0); }
template <class F> inline F imaginary(complex<F> x) { return x.imag(); }
template <class T> inline T angle(T x) { return atan2(T(0), x); }
template <class F> inline F angle(complex<F> x) { return atan2(x.imag(), x.real()); }
}
)";

/// Complex expm1 and log1p by NumPy's formulas.
inline constexpr const char* kExponentials = R"(
namespace op {
inline float exp2(float x) { return ::exp2(x); }
inline double exp2(double x) { return ::exp2(x); }
inline float expm1(float x) { return ::expm1(x); }
inline double expm1(double x) { return ::expm1(x); }
inline float log2(float x) { return ::log2(x); }
inline double log2(double x) { return ::log2(x); }
inline float log10(float x) { return ::log10(x); }
inline double log10(double x) { return ::log10(x); }
inline float log1p(float x) { return ::log1p(x); }
inline double log1p(double x) { return ::log1p(x); }
template <class F> inline complex<F> times(complex<F> x, F factor) {
  return complex<F>(x.real() * factor, x.imag() * factor);
}
template <class F> inline complex<F> exp2(complex<F> x) { return exp(times(x, F(0.6931471805599453))); }
template <class F> inline complex<F> log2(complex<F> x) { return times(log(x), F(1.4426950408889634)); }
template <class F> inline complex<F> log10(complex<F> x) { return times(log(x), F(0.4342944819032518)); }
template <class F> inline complex<F> expm1(complex<F> x) {
  const F half_sine = sin(x.imag() / F(2));
  return complex<F>(::expm1(x.real()) * cos(x.imag()) - F(2) * half_sine * half_sine, exp(x.real()) * sin(x.imag()));
}
template <class F> inline complex<F> log1p(complex<F> x) {
  return complex<F>(log(hypot(x.real() + F(1), x.imag())), atan2(x.imag(), x.real() + F(1)));
}
template <class F> inline F logaddexp(F x, F y) {
  if (x == y) return x + F(0.6931471805599453);
  const F difference = x - y;
  if (difference > 0) return x + ::log1p(exp(-difference));
  return difference <= 0 ? y + ::log1p(exp(difference)) : difference;
}
template <class F> inline F logaddexp2(F x, F y) {
  if (x == y) return x + F(1);
  const F difference = x - y;
  if (difference > 0) return x + F(1.4426950408889634) * ::log1p(::exp2(-difference));
  return difference <= 0 ? y + F(1.4426950408889634) * ::log1p(::exp2(difference)) : difference;
}
}
)";

inline constexpr const char* kBitHelpers = R"(
namespace op {
template <class T> inline T invert(T x) { return T(~x); }
inline bool invert(bool x) { return !x; }
template <class T> inline constexpr int width = sizeof(T) * 8;
template <class T> inline T left_shift(T x, T by) { return by >= 0 && by < T(width<T>) ? T(x << by) : T(0); }
template <class T> inline T right_shift(T x, T by) {
  return by >= 0 && by < T(width<T>) ? T(x >> by) : x < 0 ? T(-1) : T(0);
}
template <class T> inline unsigned char bit_count(T x) {
  unsigned long long v = x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x;
  if constexpr (sizeof(T) < 8) v &= (1ull << (sizeof(T) * 8 % 64)) - 1;
  v = v - ((v >> 1) & 0x5555555555555555ull);
  v = (v & 0x3333333333333333ull) + ((v >> 2) & 0x3333333333333333ull);
  v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
  return (unsigned char)((v * 0x0101010101010101ull) >> 56);
}
}
)";

inline constexpr const char* kCompare = R"(
namespace op {
template <class A> inline bool is_less(A a, A b) { return a < b; }
template <class A> inline bool is_less_equal(A a, A b) { return a <= b; }
template <class A> inline bool is_equal(A a, A b) { return a == b; }
inline bool is_less(int64_t a, uint64_t b) { return a < 0 || (uint64_t)a < b; }
inline bool is_less(uint64_t a, int64_t b) { return b > 0 && a < (uint64_t)b; }
inline bool is_less_equal(int64_t a, uint64_t b) { return a < 0 || (uint64_t)a <= b; }
inline bool is_less_equal(uint64_t a, int64_t b) { return b >= 0 && a <= (uint64_t)b; }
inline bool is_equal(int64_t a, uint64_t b) { return a >= 0 && (uint64_t)a == b; }
inline bool is_equal(uint64_t a, int64_t b) { return is_equal(b, a); }
template <class F> inline bool is_ordered(complex<F> a, complex<F> b) {
  return a.imag() == a.imag() && b.imag() == b.imag();
}
template <class F> inline bool is_less(complex<F> a, complex<F> b) {
  return (a.real() < b.real() && is_ordered(a, b)) || (a.real() == b.real() && a.imag() < b.imag());
}
template <class F> inline bool is_less_equal(complex<F> a, complex<F> b) {
  return (a.real() < b.real() && is_ordered(a, b)) || (a.real() == b.real() && a.imag() <= b.imag());
}
template <class F> inline bool is_equal(complex<F> a, complex<F> b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
}
)";

inline constexpr const char* kIsClose = R"(
namespace op {
template <class F> inline F distance(F a, F b) { return fabs(a - b); }
template <class F> inline F distance(complex<F> a, complex<F> b) {
  return hypot(a.real() - b.real(), a.imag() - b.imag());
}
template <class F> inline F length(F a) { return fabs(a); }
template <class F> inline F length(complex<F> a) { return hypot(a.real(), a.imag()); }
template <class F> inline bool is_nan(F a) { return a != a; }
template <class F> inline bool is_nan(complex<F> a) { return a.real() != a.real() || a.imag() != a.imag(); }
template <class F> inline bool is_finite(F a) { return a - a == 0; }
template <class F> inline bool is_finite(complex<F> a) { return is_finite(a.real()) && is_finite(a.imag()); }
template <class T, class F> inline bool is_close(T a, T b, F relative, F absolute, bool equal_nan) {
  return (is_finite(b) && distance(a, b) <= absolute + relative * length(b)) || a == b ||
         (equal_nan && is_nan(a) && is_nan(b));
}
}
)";

inline constexpr const char* kNanToNum = R"(
namespace op {
template <class F> inline F nan_to_num(F x, F nan, F above, F below) {
  return x != x ? nan : x - x == 0 ? x : x > 0 ? above : below;
}
template <class F> inline complex<F> nan_to_num(complex<F> x, F nan, F above, F below) {
  return complex<F>(nan_to_num(x.real(), nan, above, below), nan_to_num(x.imag(), nan, above, below));
}
}
)";

inline constexpr const char* kClassify = R"(
namespace op {
template <class T> inline bool is_nan(T x) { return x != x; }
template <class T> inline bool is_finite(T x) { return x - x == T(0); }
inline bool is_finite(bool) { return true; }
template <class T> inline bool is_inf(T x) { return !is_nan(x) && !is_finite(x); }
template <class F> inline bool is_nan(complex<F> x) { return is_nan(x.real()) || is_nan(x.imag()); }
template <class F> inline bool is_finite(complex<F> x) { return is_finite(x.real()) && is_finite(x.imag()); }
template <class F> inline bool is_inf(complex<F> x) { return is_inf(x.real()) || is_inf(x.imag()); }
}
)";

/// By the bits of the stored type S: its values are ordered as its magnitudes' bits are. scale() is musl's scalbn.
inline constexpr const char* kFormat = R"(
namespace op {
template <int Bytes> struct Bits;
template <> struct Bits<2> { using type = short; };
template <> struct Bits<4> { using type = int; };
template <> struct Bits<8> { using type = long long; };
template <class S, class T> inline T next_after(T x, T y) {
  using B = typename Bits<sizeof(S)>::type;
  if (x != x || y != y) return x + y;
  if (x == y) return y;  // of zeros of two signs, as C's
  B bits = __builtin_bit_cast(B, static_cast<S>(x));
  if (x == T(0)) bits = y > T(0) ? B(1) : B((B(1) << (sizeof(S) * 8 - 1)) | 1);
  else bits = B(bits + ((x < y) == (x > T(0)) ? 1 : -1));
  return static_cast<T>(__builtin_bit_cast(S, bits));
}
template <class S, class T> inline T spacing(T x) {
  if (x - x != T(0)) return x - x;
  const T infinity = T(__builtin_bit_cast(double, 0x7ff0000000000000ll));
  const T distance = next_after<S>(x, x < T(0) ? -infinity : infinity) - x;
  if (sizeof(S) != 2) return distance;
  // NumPy's float16: the distance to the next value above.
  return x < T(0) ? next_after<S>(x, infinity) - x : fabs(distance);
}
inline double power_of_two(long long n) { return __builtin_bit_cast(double, (n + 1023) << 52); }
inline double scale(double x, long long n) {
  n = n > 4000 ? 4000 : n < -4000 ? -4000 : n;
  for (int step = 0; step < 2 && n > 1023; ++step, n -= 1023) x *= power_of_two(1023);
  for (int step = 0; step < 2 && n < -1022; ++step, n += 969) x *= power_of_two(-969);
  return x * power_of_two(n > 1023 ? 1023 : n < -1022 ? -1022 : n);
}
inline float scale(float x, long long n) {
  return static_cast<float>(static_cast<double>(x) * power_of_two(n > 600 ? 600 : n < -600 ? -600 : n));
}
inline double split(double x, int& exponent) {
  exponent = 0;
  if (x == 0 || x - x != 0) return x;
  int shift = 0;
  if (fabs(x) < power_of_two(-1022)) x *= power_of_two(54), shift = 54;
  const long long bits = __builtin_bit_cast(long long, x);
  exponent = int((bits >> 52) & 0x7ff) - 1022 - shift;
  return __builtin_bit_cast(double, (bits & ~(0x7ffll << 52)) | (1022ll << 52));
}
inline float split(float x, int& exponent) { return static_cast<float>(split(static_cast<double>(x), exponent)); }
}
)";

/// The modified Bessel function of order 0 by Chebyshev series: Cephes' i0.c, as in NumPy.
inline constexpr const char* kBessel = R"(
namespace op {
template <class T, int N> inline T chebyshev(T x, const double (&series)[N]) {
  T b0 = T(series[0]), b1 = 0, b2 = 0;
  for (int k = 1; k < N; ++k) b2 = b1, b1 = b0, b0 = x * b1 - b2 + T(series[k]);
  return T(0.5) * (b0 - b2);
}
template <class T> inline T bessel_i0(T x) {
  const double near[] = {
    -4.41534164647933937950E-18, 3.33079451882223809783E-17, -2.43127984654795469359E-16,
    1.71539128555513303061E-15, -1.16853328779934516808E-14, 7.67618549860493561688E-14,
    -4.85644678311192946090E-13, 2.95505266312963983461E-12, -1.72682629144155570723E-11,
    9.67580903537323691224E-11, -5.18979560163526290666E-10, 2.65982372468238665035E-9,
    -1.30002500998624804212E-8, 6.04699502254191894932E-8, -2.67079385394061173391E-7,
    1.11738753912010371815E-6, -4.41673835845875056359E-6, 1.64484480707288970893E-5,
    -5.75419501008210370398E-5, 1.88502885095841655729E-4, -5.76375574538582365885E-4,
    1.63947561694133579842E-3, -4.32430999505057594430E-3, 1.05464603945949983183E-2,
    -2.37374148058994688156E-2, 4.93052842396707084878E-2, -9.49010970480476444210E-2,
    1.71620901522208775349E-1, -3.04682672343198398683E-1, 6.76795274409476084995E-1};
  const double far[] = {
    -7.23318048787475395456E-18, -4.83050448594418207126E-18, 4.46562142029675999901E-17,
    3.46122286769746109310E-17, -2.82762398051658348494E-16, -3.42548561967721913462E-16,
    1.77256013305652638360E-15, 3.81168066935262242075E-15, -9.55484669882830764870E-15,
    -4.15056934728722208663E-14, 1.54008621752140982691E-14, 3.85277838274214270114E-13,
    7.18012445138366623367E-13, -1.79417853150680611778E-12, -1.32158118404477131188E-11,
    -3.14991652796324136454E-11, 1.18891471078464383424E-11, 4.94060238822496958910E-10,
    3.39623202570838634515E-9, 2.26666899049817806459E-8, 2.04891858946906374183E-7, 2.89137052083475648297E-6,
    6.88975834691682398426E-5, 3.36911647825569408990E-3, 8.04490411014108831608E-1};
  x = fabs(x);
  if (x <= T(8)) return exp(x) * chebyshev(x / T(2) - T(2), near);
  return exp(x) * chebyshev(T(32) / x - T(2), far) / sqrt(x);
}
}
)";

}  // namespace iruka::ops
