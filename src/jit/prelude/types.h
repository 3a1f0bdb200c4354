// Concepts of number types, and the type in which a math function computes.
#pragma once

namespace iruka {

enum class NumberKind { none, integer, floating, small };

template <class A, class B> inline constexpr bool is_same = false;
template <class A> inline constexpr bool is_same<A, A> = true;
template <class T, class... Others> inline constexpr bool is_one_of = (is_same<T, Others> || ...);

// One expression, because CUDA would put a specialisation for each type into every kernel's global memory.
template <class T>
inline constexpr NumberKind number_kind = is_one_of<T, float, double> ? NumberKind::floating
                                          : is_one_of<T, bool, char, signed char, unsigned char, short, unsigned short,
                                                      int, unsigned, long, unsigned long, long long, unsigned long long>
                                              ? NumberKind::integer
                                              : NumberKind::none;

template <class T> concept Mutable = !is_same<T, const T>;
// Mutable is part of the others, so that their overloads take precedence over one for any mutable T.
template <class T> concept Integer = Mutable<T> && number_kind<T> == NumberKind::integer;
template <class T> concept Floating = Mutable<T> && number_kind<T> == NumberKind::floating;
template <class T> concept Small = Mutable<T> && number_kind<T> == NumberKind::small;  ///< float16, bfloat16
template <class T> concept Real = number_kind<T> != NumberKind::none;
/// Whether functions.h must overload math functions for these argument types, because the target does not.
template <class A, class B = A, class C = A>
inline constexpr bool is_promoted = Real<A> && Real<B> && Real<C> && !(Floating<A> && is_same<A, B> && is_same<A, C>);
template <class A> concept Promoted = is_promoted<A>;

/// The type a math function computes in, and the type it returns: int -> double and double; float16 -> float and
/// float16.
template <class T> struct MathTypes {
  using Compute = double;
  using Result = double;
};
template <> struct MathTypes<float> {
  using Compute = float;
  using Result = float;
};
template <Small T> struct MathTypes<T> {
  using Compute = float;
  using Result = T;
};
template <class T> using Compute = typename MathTypes<T>::Compute;
template <class T> using Result = typename MathTypes<T>::Result;
/// The type of C++'s usual arithmetic conversions: Sum<short, int> is int; Sum<float16, int> is float16.
template <class A, class B> using Sum = decltype(A() + B());

template <class T> struct SameType {
  using Type = T;
};
/// A parameter type that is not deduced.
template <class T> using Same = typename SameType<T>::Type;
template <bool condition, class A, class B> struct Choice {
  using Type = A;
};
template <class A, class B> struct Choice<false, A, B> {
  using Type = B;
};
template <bool condition, class A, class B> using Choose = typename Choice<condition, A, B>::Type;
template <class T> inline constexpr bool is_signed = T(-1) < T(0);

/// A floating-point type's layout: an unsigned integer of its size, the number of mantissa bits, the exponent's bias.
template <class T> struct FloatFormat {
  static_assert(Floating<T>);
  using Bits = Choose<is_same<T, float>, uint32_t, uint64_t>;
  static constexpr int kMantissa = is_same<T, float> ? 23 : 52, kBias = is_same<T, float> ? 127 : 1023;
};
IRUKA_INLINE uint32_t to_bits(float x) { return __float_as_uint(x); }
IRUKA_INLINE uint64_t to_bits(double x) { return (uint64_t)__double_as_longlong(x); }
template <class T> IRUKA_INLINE T from_bits(typename FloatFormat<T>::Bits bits) {
  if constexpr (is_same<T, float>)
    return __uint_as_float(bits);
  else
    return __longlong_as_double((long long)bits);
}

/// The next representable value after `x` towards `y`, as C's nextafter.
template <class T, class Bits> IRUKA_INLINE Bits next_bits(T x, T y, Bits x_bits, Bits y_bits, Bits sign) {
  if (x != x) return x_bits;
  if (y != y || x == y) return y_bits;
  if (x == T(0)) return (Bits)((y_bits & sign) | 1);
  return (Bits)((x < y) == (x > T(0)) ? x_bits + 1 : x_bits - 1);
}

}  // namespace iruka
