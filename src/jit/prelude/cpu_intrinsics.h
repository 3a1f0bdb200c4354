// CUDA's intrinsics on the CPU that take more than an instruction or two: arithmetic with directed rounding, numbers
// that share a word, norms of vectors. All are also functions of a GPU's compiler.
#pragma once

namespace iruka {

enum class Toward { zero, up, down };

/// The neighbour of the `nearest` number to a value in this direction, where `error`, which has the sign of the value
/// minus `nearest`, says that the value lies there.
template <Toward toward, class T, class E> IRUKA_INLINE T directed(T nearest, E error, bool is_finite) {
  if (is_finite && isinf(nearest)) error = -nearest;  // the value lies between the largest number and infinity
  const bool rises = error > 0 && (toward == Toward::up || (toward == Toward::zero && nearest < 0));
  const bool falls = error < 0 && (toward == Toward::down || (toward == Toward::zero && nearest > 0));
  return rises ? next_after(nearest, (T)INFINITY) : falls ? next_after(nearest, -(T)INFINITY) : nearest;
}

/// The error of x + y, rounded to `sum`. Knuth, The Art of Computer Programming 2, 4.2.2.
template <class T> IRUKA_INLINE T error_of_sum(T x, T y, T sum) {
#pragma clang fp reassociate(off) contract(off)
  const T back = sum - x;
  return (x - (sum - back)) + (y - back);
}

/// A sum that is zero has a sign of its own where its terms cancel.
template <Toward toward, class T> IRUKA_INLINE T with_sign_of_zero(T sum, T x, T y) {
  return toward == Toward::down && sum == 0 && signbit(x) != signbit(y) ? -T(0) : sum;
}

template <Toward toward, class T> IRUKA_INLINE T directed_sum(T x, T y) {
  const T sum = with_sign_of_zero<toward>(x + y, x, y);
  return directed<toward>(sum, error_of_sum(x, y, sum), isfinite(x) && isfinite(y));
}

/// `x` times a power of two where `does`.
IRUKA_INLINE double scaled(bool does, double x, double factor) { return does ? x * factor : x; }

template <Toward toward> IRUKA_INLINE float directed_product(float x, float y) {
  const float product = x * y;
  return directed<toward>(product, (double)x * y - (double)product, isfinite(x) && isfinite(y));
}
template <Toward toward> IRUKA_INLINE double directed_product(double x, double y) {
  const double product = x * y;
  const bool is_finite = isfinite(x) && isfinite(y), is_tiny = fabs(product) < 0x1p-900, x_is_less = fabs(x) < fabs(y);
  const double a = scaled(is_tiny && x_is_less, x, 0x1p600), b = scaled(is_tiny && !x_is_less, y, 0x1p600);
  double error = __builtin_elementwise_fma(a, b, -scaled(is_tiny, product, 0x1p600));
  if (product == 0 && x != 0 && y != 0) error = signbit(product) ? -1 : 1;
  return directed<toward>(product, error, is_finite);
}

// A quotient or root of two floats is a double's neighbour of no float but itself, so its double tells the side.
template <Toward toward> IRUKA_INLINE float directed_quotient(float x, float y) {
  const double quotient = (double)x / y;
  return directed<toward>((float)quotient, quotient - (double)(float)quotient, isfinite(x) && isfinite(y) && y != 0);
}
template <Toward toward> IRUKA_INLINE double directed_quotient(double x, double y) {
  const double quotient = x / y;
  const bool is_tiny = fabs(x) < 0x1p-900, y_is_small = fabs(y) < 1;
  const double rest = __builtin_elementwise_fma(-scaled(is_tiny && !y_is_small, quotient, 0x1p600),
                                                scaled(is_tiny && y_is_small, y, 0x1p600), scaled(is_tiny, x, 0x1p600));
  return directed<toward>(quotient, signbit(y) ? -rest : rest, isfinite(x) && isfinite(y) && y != 0);
}

template <Toward toward> IRUKA_INLINE float directed_root(float x) {
  const double root = __builtin_elementwise_sqrt((double)x);
  return directed<toward>((float)root, root - (double)(float)root, false);
}
template <Toward toward> IRUKA_INLINE double directed_root(double x) {
  const double root = __builtin_elementwise_sqrt(x), half = scaled(x < 0x1p-900, root, 0x1p300);
  return directed<toward>(root, __builtin_elementwise_fma(-half, half, scaled(x < 0x1p-900, x, 0x1p600)), false);
}

/// The product is exact in double. The sum is rounded to an odd number first, as in round_to_odd().
template <Toward toward> IRUKA_INLINE float directed_fma(float x, float y, float z) {
#pragma clang fp reassociate(off) contract(off)
  const double product = (double)x * y, sum = product + z, error = error_of_sum(product, (double)z, sum);
  const bool is_even = (to_bits(sum) & 1) == 0;
  const double odd = error != 0 && is_even ? next_after(sum, error > 0 ? (double)INFINITY : -(double)INFINITY) : sum;
  const float nearest = with_sign_of_zero<toward>((float)odd, odd == 0 ? (float)copysign(0.0, product) : x,
                                                  odd == 0 ? (float)copysign(0.0, (double)z) : x);
  return directed<toward>(nearest, odd - (double)nearest, isfinite(x) && isfinite(y) && isfinite(z));
}
/// The error of a fused operation: Boldo and Muller, Some Functions Computable with a Fused-mac (ARITH 2005).
template <Toward toward> IRUKA_INLINE double directed_fma(double x, double y, double z) {
#pragma clang fp reassociate(off) contract(off)
  const double result = __builtin_elementwise_fma(x, y, z), rough = x * y;
  const bool is_tiny = fabs(rough) < 0x1p-900 && fabs(z) < 0x1p-800, is_huge = fabs(rough) > 0x1p900;
  const double factor = is_tiny ? 0x1p600 : 0x1p-600;
  const bool x_changes = is_tiny == (fabs(x) < fabs(y)), is_scaled = is_tiny || is_huge;
  const double a = scaled(is_scaled && x_changes, x, factor), b = scaled(is_scaled && !x_changes, y, factor);
  double c = scaled(is_scaled, z, factor);
  if (c == 0 && z != 0) c = copysign(0x1p-1074, z);
  const double product = a * b, low = __builtin_elementwise_fma(a, b, -product);
  const double tail = c + low, tail_error = error_of_sum(c, low, tail);
  const double head = product + tail, head_error = error_of_sum(product, tail, head);
  double error = ((head - scaled(is_scaled, result, factor)) + head_error) + tail_error;
  if (product == 0 && x != 0 && y != 0) error = signbit(x) != signbit(y) ? -1 : 1;
  const bool cancels = toward == Toward::down && result == 0 && error == 0 && signbit(rough) != signbit(z);
  return directed<toward>(cancels ? -0.0 : result, error, isfinite(x) && isfinite(y) && isfinite(z));
}

template <Toward toward> IRUKA_INLINE float directed_float(double x) {
  return directed<toward>((float)x, x - (double)(float)x, isfinite(x));
}
/// An integer's leading bits are exact; what is left out decides.
template <Toward toward, class F, class I> IRUKA_INLINE F directed_from(I x) {
  const bool is_negative = is_signed<I> && x < 0;
  const unsigned long long size = is_negative ? 0 - (unsigned long long)x : (unsigned long long)x;
  const int lost = 64 - (FloatFormat<F>::kMantissa + 1) - __builtin_clzg(size, 64), shift = lost > 0 ? lost : 0;
  const unsigned long long kept = size >> shift << shift;
  const bool grows = kept != size && toward == (is_negative ? Toward::down : Toward::up);
  const F result = (F)kept + (grows ? (F)(1ull << shift) : F(0));
  return is_negative ? -result : result;
}

/// The bytes or halves of two words, each pair by `compute`.
template <class Part, class Compute> IRUKA_INLINE unsigned by_parts(unsigned a, unsigned b, Compute compute) {
  constexpr int kBits = sizeof(Part) * 8;
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += kBits) {
    const int part = compute((int)(Part)(a >> shift), (int)(Part)(b >> shift));
    result |= ((unsigned)part & ((1u << kBits) - 1)) << shift;
  }
  return result;
}
template <class Part> IRUKA_INLINE int saturated_part(int x) {
  constexpr int kBits = sizeof(Part) * 8, kLow = is_signed<Part> ? -(1 << (kBits - 1)) : 0;
  constexpr int kHigh = is_signed<Part> ? (1 << (kBits - 1)) - 1 : (1 << kBits) - 1;
  return x < kLow ? kLow : x > kHigh ? kHigh : x;
}
IRUKA_INLINE int absolute(int x) { return x < 0 ? -x : x; }
template <class Part> IRUKA_INLINE unsigned sum_of_differences(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (int shift = 0; shift < 32; shift += sizeof(Part) * 8)
    sum += (unsigned)absolute((int)(Part)(a >> shift) - (int)(Part)(b >> shift));
  return sum;
}

/// Sums of products of bytes, and of halves with bytes.
template <class Byte, class Sum> IRUKA_INLINE Sum dot_of_bytes(unsigned a, unsigned b, Sum sum) {
  for (int shift = 0; shift < 32; shift += 8) sum += (Sum)((int)(Byte)(a >> shift) * (int)(Byte)(b >> shift));
  return sum;
}
template <class Half, class Byte, class Sum> IRUKA_INLINE Sum dot_of_halves(unsigned a, unsigned b, Sum sum) {
  for (int k = 0; k < 2; ++k) sum += (Sum)((int)(Half)(a >> 16 * k) * (int)(Byte)(b >> 8 * k));
  return sum;
}

/// The length of a vector, without overflow of its squares; infinity if a component is infinite.
template <class... T> IRUKA_INLINE double length(double first, T... others) {
  double largest = fabs(first);
  ((largest = fmax(largest, fabs(others))), ...);
  if (isinf(largest)) return largest;
  const double factor = largest > 0x1p500 ? 0x1p-600 : largest < 0x1p-500 ? 0x1p600 : 1;
  double sum = first * factor * (first * factor);
  ((sum += others * factor * (others * factor)), ...);
  return __builtin_elementwise_sqrt(sum) / factor;
}
template <class T> IRUKA_INLINE double length_of(int count, const T* x) {
  double largest = 0, sum = 0;
  for (int k = 0; k < count; ++k) largest = fmax(largest, fabs((double)x[k]));
  if (isinf(largest)) return largest;
  const double factor = largest > 0x1p500 ? 0x1p-600 : largest < 0x1p-500 ? 0x1p600 : 1;
  for (int k = 0; k < count; ++k) sum += x[k] * factor * (x[k] * factor);
  return __builtin_elementwise_sqrt(sum) / factor;
}

/// exp(x * x) * erfc(x): by the product where erfc is not small, else by Laplace's continued fraction (Abramowitz and
/// Stegun 7.1.14).
inline double scaled_erfc(double x) {
  if (x < 2) {
    const double square = x * x, rest = __builtin_elementwise_fma(x, x, -square);
    if (x < -27) return INFINITY;
    return exp(square) * (1 + rest) * erfc(x);
  }
  double fraction = x;
  for (int k = 60; k > 0; --k) fraction = x + 0.5 * k / fraction;
  return 0.5 * M_2_SQRTPI / fraction;
}

}  // namespace iruka

#define IRUKA_DIRECTED(T, prefix, fma, suffix, toward)                                                                \
  IRUKA_INLINE T __##prefix##add_##suffix(T x, T y) { return iruka::directed_sum<iruka::Toward::toward>(x, y); }      \
  IRUKA_INLINE T __##prefix##sub_##suffix(T x, T y) { return iruka::directed_sum<iruka::Toward::toward>(x, -y); }     \
  IRUKA_INLINE T __##prefix##mul_##suffix(T x, T y) { return iruka::directed_product<iruka::Toward::toward>(x, y); }  \
  IRUKA_INLINE T __##prefix##div_##suffix(T x, T y) { return iruka::directed_quotient<iruka::Toward::toward>(x, y); } \
  IRUKA_INLINE T __##prefix##rcp_##suffix(T x) { return iruka::directed_quotient<iruka::Toward::toward>((T)1, x); }   \
  IRUKA_INLINE T __##prefix##sqrt_##suffix(T x) { return iruka::directed_root<iruka::Toward::toward>(x); }            \
  IRUKA_INLINE T __##fma##_##suffix(T x, T y, T z) { return iruka::directed_fma<iruka::Toward::toward>(x, y, z); }
IRUKA_DIRECTED(float, f, fmaf, rz, zero)
IRUKA_DIRECTED(float, f, fmaf, ru, up)
IRUKA_DIRECTED(float, f, fmaf, rd, down)
IRUKA_DIRECTED(double, d, fma, rz, zero)
IRUKA_DIRECTED(double, d, fma, ru, up)
IRUKA_DIRECTED(double, d, fma, rd, down)
#undef IRUKA_DIRECTED

#define IRUKA_FROM_INTEGER(integer, T, F)                                                                \
  IRUKA_INLINE F __##integer##2##F##_rz(T x) { return iruka::directed_from<iruka::Toward::zero, F>(x); } \
  IRUKA_INLINE F __##integer##2##F##_ru(T x) { return iruka::directed_from<iruka::Toward::up, F>(x); }   \
  IRUKA_INLINE F __##integer##2##F##_rd(T x) { return iruka::directed_from<iruka::Toward::down, F>(x); }
IRUKA_FROM_INTEGER(int, int, float)
IRUKA_FROM_INTEGER(uint, unsigned, float)
IRUKA_FROM_INTEGER(ll, long long, float)
IRUKA_FROM_INTEGER(ull, unsigned long long, float)
IRUKA_FROM_INTEGER(ll, long long, double)
IRUKA_FROM_INTEGER(ull, unsigned long long, double)
#undef IRUKA_FROM_INTEGER
IRUKA_INLINE float __double2float_rz(double x) { return iruka::directed_float<iruka::Toward::zero>(x); }
IRUKA_INLINE float __double2float_ru(double x) { return iruka::directed_float<iruka::Toward::up>(x); }
IRUKA_INLINE float __double2float_rd(double x) { return iruka::directed_float<iruka::Toward::down>(x); }

IRUKA_INLINE unsigned __uhadd(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
IRUKA_INLINE unsigned __urhadd(unsigned x, unsigned y) { return (x | y) - ((x ^ y) >> 1); }
IRUKA_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (shift < 32 ? shift : 32) >> 32);
}
IRUKA_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift < 32 ? shift : 32));
}
/// The place of the offset-th bit that is set, counted from `base` upwards, or downwards for a negative offset.
IRUKA_INLINE unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
  const int step = offset < 0 ? -1 : 1;
  int left = iruka::absolute(offset);
  for (int place = (int)base; place >= 0 && place < 32; place += step)
    if ((mask >> place & 1) && --left == 0) return (unsigned)place;
  return 0xffffffffu;
}

IRUKA_INLINE int __dp4a(int a, int b, int sum) {
  return (int)iruka::dot_of_bytes<signed char>((unsigned)a, (unsigned)b, (unsigned)sum);
}
IRUKA_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return iruka::dot_of_bytes<unsigned char>(a, b, sum);
}
#define IRUKA_DP2A(name, shift)                                                                             \
  IRUKA_INLINE int name(int a, int b, int sum) {                                                            \
    return (int)iruka::dot_of_halves<short, signed char>((unsigned)a, (unsigned)b >> shift, (unsigned)sum); \
  }                                                                                                         \
  IRUKA_INLINE unsigned name(unsigned a, unsigned b, unsigned sum) {                                        \
    return iruka::dot_of_halves<unsigned short, unsigned char>(a, b >> shift, sum);                         \
  }
IRUKA_DP2A(__dp2a_lo, 0)
IRUKA_DP2A(__dp2a_hi, 16)
#undef IRUKA_DP2A

#define IRUKA_PARTS(name, Part, expression)                                             \
  IRUKA_INLINE unsigned name(unsigned a, unsigned b) {                                  \
    using T [[maybe_unused]] = Part;                                                    \
    return iruka::by_parts<Part>(a, b, [](int x, int y) { return (int)(expression); }); \
  }
#define IRUKA_PART(name, Part, expression)                                            \
  IRUKA_INLINE unsigned name(unsigned a) {                                            \
    using T [[maybe_unused]] = Part;                                                  \
    return iruka::by_parts<Part>(a, 0, [](int x, int) { return (int)(expression); }); \
  }
#define IRUKA_SIGNED(name, expression)    \
  IRUKA_PARTS(name##2, short, expression) \
  IRUKA_PARTS(name##4, signed char, expression)
#define IRUKA_UNSIGNED(name, expression)           \
  IRUKA_PARTS(name##2, unsigned short, expression) \
  IRUKA_PARTS(name##4, unsigned char, expression)
#define IRUKA_SIGNED_1(name, expression) \
  IRUKA_PART(name##2, short, expression) \
  IRUKA_PART(name##4, signed char, expression)
#define IRUKA_COMPARE(name, operation)                    \
  IRUKA_SIGNED(__vcmp##name##s, x operation y ? -1 : 0)   \
  IRUKA_UNSIGNED(__vcmp##name##u, x operation y ? -1 : 0) \
  IRUKA_SIGNED(__vset##name##s, x operation y)            \
  IRUKA_UNSIGNED(__vset##name##u, x operation y)
IRUKA_SIGNED(__vadd, x + y)
IRUKA_SIGNED(__vaddss, iruka::saturated_part<T>(x + y))
IRUKA_UNSIGNED(__vaddus, iruka::saturated_part<T>(x + y))
IRUKA_SIGNED(__vsub, x - y)
IRUKA_SIGNED(__vsubss, iruka::saturated_part<T>(x - y))
IRUKA_UNSIGNED(__vsubus, iruka::saturated_part<T>(x - y))
IRUKA_SIGNED(__vavgs, (x + y + (x + y >= 0)) >> 1)
IRUKA_UNSIGNED(__vavgu, (x + y + 1) >> 1)
IRUKA_UNSIGNED(__vhaddu, (x + y) >> 1)
IRUKA_SIGNED(__vabsdiffs, iruka::absolute(x - y))
IRUKA_UNSIGNED(__vabsdiffu, iruka::absolute(x - y))
IRUKA_SIGNED(__vmaxs, x > y ? x : y)
IRUKA_UNSIGNED(__vmaxu, x > y ? x : y)
IRUKA_SIGNED(__vmins, x < y ? x : y)
IRUKA_UNSIGNED(__vminu, x < y ? x : y)
IRUKA_SIGNED(__vcmpeq, x == y ? -1 : 0)
IRUKA_SIGNED(__vcmpne, x != y ? -1 : 0)
IRUKA_SIGNED(__vseteq, x == y)
IRUKA_SIGNED(__vsetne, x != y)
IRUKA_COMPARE(ge, >=)
IRUKA_COMPARE(gt, >)
IRUKA_COMPARE(le, <=)
IRUKA_COMPARE(lt, <)
IRUKA_SIGNED_1(__vabs, iruka::absolute(x))
IRUKA_SIGNED_1(__vabsss, iruka::saturated_part<T>(iruka::absolute(x)))
IRUKA_SIGNED_1(__vneg, -x)
IRUKA_SIGNED_1(__vnegss, iruka::saturated_part<T>(-x))
#undef IRUKA_PARTS
#undef IRUKA_PART
#undef IRUKA_SIGNED
#undef IRUKA_UNSIGNED
#undef IRUKA_SIGNED_1
#undef IRUKA_COMPARE
IRUKA_INLINE unsigned __vsads2(unsigned a, unsigned b) { return iruka::sum_of_differences<short>(a, b); }
IRUKA_INLINE unsigned __vsads4(unsigned a, unsigned b) { return iruka::sum_of_differences<signed char>(a, b); }
IRUKA_INLINE unsigned __vsadu2(unsigned a, unsigned b) { return iruka::sum_of_differences<unsigned short>(a, b); }
IRUKA_INLINE unsigned __vsadu4(unsigned a, unsigned b) { return iruka::sum_of_differences<unsigned char>(a, b); }

#define IRUKA_EXTREMES(prefix, T)                                \
  IRUKA_INLINE T prefix##min(T x, T y) { return x < y ? x : y; } \
  IRUKA_INLINE T prefix##max(T x, T y) { return x > y ? x : y; }
IRUKA_EXTREMES(u, unsigned)
IRUKA_EXTREMES(ll, long long)
IRUKA_EXTREMES(ull, unsigned long long)
#undef IRUKA_EXTREMES
IRUKA_INLINE long labs(long x) { return x < 0 ? 0 - x : x; }
IRUKA_INLINE long long llabs(long long x) { return x < 0 ? 0 - x : x; }

#define IRUKA_NORMS(T, suffix)                                                                                       \
  IRUKA_INLINE T norm3d##suffix(T x, T y, T z) { return (T)iruka::length(x, (double)y, (double)z); }                 \
  IRUKA_INLINE T norm4d##suffix(T x, T y, T z, T w) { return (T)iruka::length(x, (double)y, (double)z, (double)w); } \
  IRUKA_INLINE T norm##suffix(int count, const T* x) { return (T)iruka::length_of(count, x); }                       \
  IRUKA_INLINE T rnorm3d##suffix(T x, T y, T z) { return (T)(1 / iruka::length(x, (double)y, (double)z)); }          \
  IRUKA_INLINE T rnorm4d##suffix(T x, T y, T z, T w) {                                                               \
    return (T)(1 / iruka::length(x, (double)y, (double)z, (double)w));                                               \
  }                                                                                                                  \
  IRUKA_INLINE T rnorm##suffix(int count, const T* x) { return (T)(1 / iruka::length_of(count, x)); }
IRUKA_NORMS(double, )
IRUKA_NORMS(float, f)
#undef IRUKA_NORMS
template <iruka::Floating T> IRUKA_INLINE T erfcx(T x) { return (T)iruka::scaled_erfc(x); }
IRUKA_INLINE float erfcxf(float x) { return erfcx(x); }
IRUKA_INLINE double nan(const char*) { return NAN; }
IRUKA_INLINE float nanf(const char*) { return NAN; }
IRUKA_INLINE double fdivide(double x, double y) { return x / y; }

IRUKA_INLINE long long clock64() { return (long long)__builtin_readcyclecounter(); }
IRUKA_INLINE int clock() { return (int)clock64(); }
IRUKA_INLINE void __nanosleep(unsigned) {}
