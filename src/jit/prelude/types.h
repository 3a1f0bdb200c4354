// Which types are numbers, and in what type a math function works on them.
#pragma once

namespace iruka {

enum class NumberKind { none, integer, floating, small };

template <class T> inline constexpr NumberKind number_kind = NumberKind::none;
#define IRUKA_INTEGER(T) \
  template <> inline constexpr NumberKind number_kind<T> = NumberKind::integer; \
  template <> inline constexpr NumberKind number_kind<unsigned T> = NumberKind::integer;
IRUKA_INTEGER(char)
IRUKA_INTEGER(short)
IRUKA_INTEGER(int)
IRUKA_INTEGER(long)
IRUKA_INTEGER(long long)
#undef IRUKA_INTEGER
template <> inline constexpr NumberKind number_kind<bool> = NumberKind::integer;
template <> inline constexpr NumberKind number_kind<signed char> = NumberKind::integer;
template <> inline constexpr NumberKind number_kind<float> = NumberKind::floating;
template <> inline constexpr NumberKind number_kind<double> = NumberKind::floating;

template <class T> concept Integer = number_kind<T> == NumberKind::integer;
template <class T> concept Floating = number_kind<T> == NumberKind::floating;
template <class T> concept Small = number_kind<T> == NumberKind::small;  ///< float16, bfloat16
template <class T> concept Real = number_kind<T> != NumberKind::none;
template <class A, class B> inline constexpr bool is_same = false;
template <class A> inline constexpr bool is_same<A, A> = true;
/// Arguments that functions.h must overload math functions for, because the target does not.
template <class A, class B = A, class C = A>
inline constexpr bool is_promoted = Real<A> && Real<B> && Real<C> && !(Floating<A> && is_same<A, B> && is_same<A, C>) &&
                                    (!kMathTakesIntegers || Small<A> || Small<B> || Small<C>);
template <class A> concept Promoted = is_promoted<A>;

/// The type a math function computes in, and the type it returns: int -> double; float16 -> float, then float16.
template <class T> struct MathTypes { using Compute = double; using Result = double; };
template <> struct MathTypes<float> { using Compute = float; using Result = float; };
template <Small T> struct MathTypes<T> { using Compute = float; using Result = T; };
template <class T> using Compute = typename MathTypes<T>::Compute;
template <class T> using Result = typename MathTypes<T>::Result;
/// What C++'s usual conversions make of two numbers: Sum<short, int> is int, Sum<float16, int> is float16.
template <class A, class B> using Sum = decltype(A() + B());

template <class T> struct SameType { using Type = T; };
/// A parameter type that takes no part in deduction.
template <class T> using Same = typename SameType<T>::Type;
template <bool condition, class A, class B> struct Choice { using Type = A; };
template <class A, class B> struct Choice<false, A, B> { using Type = B; };
template <bool condition, class A, class B> using Choose = typename Choice<condition, A, B>::Type;
template <class T> inline constexpr bool is_signed = T(-1) < T(0);

/// The bits of a floating type: an unsigned integer as wide, and where the exponent begins.
template <class T> struct FloatFormat;
template <> struct FloatFormat<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127;
};
template <> struct FloatFormat<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
};
IRUKA_INLINE uint32_t to_bits(float x) { return __float_as_uint(x); }
IRUKA_INLINE uint64_t to_bits(double x) { return (uint64_t)__double_as_longlong(x); }
template <class T> IRUKA_INLINE T from_bits(typename FloatFormat<T>::Bits bits) {
  if constexpr (is_same<T, float>) return __uint_as_float(bits);
  else return __longlong_as_double((long long)bits);
}

/// The next representable value after `x` towards `y`, as C's nextafter.
template <class T, class Bits> IRUKA_INLINE Bits next_bits(T x, T y, Bits x_bits, Bits y_bits, Bits sign) {
  if (x != x) return x_bits;
  if (y != y || x == y) return y_bits;
  if (x == T(0)) return (Bits)((y_bits & sign) | 1);
  return (Bits)((x < y) == (x > T(0)) ? x_bits + 1 : x_bits - 1);
}

}  // namespace iruka
