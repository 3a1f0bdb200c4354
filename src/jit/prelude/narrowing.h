// Saturating casts of floats to integers of 8 and 16 bits. CUDA's compiler converts to 32 bits first, which wraps; so
// Iruka puts these into a GPU's text where a body casts, explicitly or not (backend/cpu/compiler/narrow_casts finds the
// places).
#pragma once

#include "float16.h"

namespace iruka {

/// `x` truncated and clamped to T's range; NaN gives 0. A plain cast gives the same on the CPU, and everywhere for 32
/// and 64 bits.
template <Integer T, Real F> IRUKA_INLINE constexpr T saturate(F x) {
  if constexpr (Integer<F> || is_same<T, bool> || sizeof(T) >= 4) {
    return (T)(Choose<Integer<F>, F, Compute<F>>)x;
  } else {
    int whole = (int)(Compute<F>)x;
    constexpr int kLow = is_signed<T> ? -(1 << (sizeof(T) * 8 - 1)) : 0, kHigh = kLow + (1 << sizeof(T) * 8) - 1;
    return (T)(whole < kLow ? kLow : (whole > kHigh ? kHigh : whole));
  }
}

template <class T> struct BareType {
  using Type = T;
};
template <class T> struct BareType<const T> {
  using Type = T;
};
template <class T> struct BareType<volatile T> {
  using Type = T;
};
template <class T> struct BareType<const volatile T> {
  using Type = T;
};
template <class T> struct BareType<T&> : BareType<T> {};
template <class T> struct BareType<T&&> : BareType<T> {};
/// T without reference, const and volatile.
template <class T> using Bare = typename BareType<T>::Type;

template <class T, bool is_enum = __is_enum(T)> struct UnderlyingType {
  using Type = T;
};
template <class T> struct UnderlyingType<T, true> {
  using Type = __underlying_type(T);
};
template <class T> using Underlying = typename UnderlyingType<Bare<T>>::Type;

template <class T>
concept Narrow = is_one_of<Underlying<T>, char, signed char, unsigned char, short, unsigned short, char16_t>;
/// The integer type of a narrow T, which may be an enumeration or a character type.
template <class T, bool is_narrow = Narrow<T>> struct NarrowType {
  using Type = T;
};
template <class T> struct NarrowType<T, true> {
  static constexpr bool kSigned = is_signed<Underlying<T>>;
  using Type =
      Choose<sizeof(T) == 1, Choose<kSigned, signed char, unsigned char>, Choose<kSigned, short, unsigned short>>;
};

/// `x` as an operand of built-in arithmetic.
template <class X>
  requires requires(const X& x) { +x; }
IRUKA_INLINE constexpr auto built_in(const X& x) {
  if constexpr (Small<Bare<X>>)
    return (float)x;
  else
    return +x;
}
template <class X> concept CountsAsFloat = requires(const X& x) { requires Floating<decltype(built_in(x))>; };

template <class T, class X> inline constexpr bool saturates = Narrow<T> && CountsAsFloat<Bare<X>>;
template <class T, class X> using Narrowed = Choose<saturates<T, X>, typename NarrowType<T>::Type, X>;

/// The operand of a cast to T: saturated where T is narrow and `x` is floating-point, otherwise `x` itself.
template <class T, class X> IRUKA_INLINE constexpr Narrowed<T, X> narrowed(X&& x) {
  if constexpr (saturates<T, X>)
    return saturate<Narrowed<T, X>>(built_in(x));
  else
    return static_cast<X&&>(x);
}

/// `x` for a conversion to a type that the text does not name.
template <class X> struct Narrowing {
  X x;
  template <class T>
    requires requires(X&& from, void (&take)(T)) { take(static_cast<X&&>(from)); }
  IRUKA_INLINE constexpr operator T() {
    return narrowed<T>(static_cast<X&&>(x));
  }
};
template <class X> IRUKA_INLINE constexpr Narrowing<X> narrowing(X&& x) { return {static_cast<X&&>(x)}; }

/// The left side of +=, -=, *= and /=, whose result is converted back to its type.
template <class T> struct NarrowTarget {
  T& target;
  template <class X> IRUKA_INLINE constexpr T& operator+=(const X& x) const { return set(target + built_in(x)); }
  template <class X> IRUKA_INLINE constexpr T& operator-=(const X& x) const { return set(target - built_in(x)); }
  template <class X> IRUKA_INLINE constexpr T& operator*=(const X& x) const { return set(target * built_in(x)); }
  template <class X> IRUKA_INLINE constexpr T& operator/=(const X& x) const { return set(target / built_in(x)); }

 private:
  template <class X> IRUKA_INLINE constexpr T& set(X x) const {
    target = (Bare<T>)narrowed<T>(x);
    return target;
  }
};
template <class T> IRUKA_INLINE constexpr decltype(auto) narrow_target(T&& target) {
  if constexpr (Narrow<T>)
    return NarrowTarget<T>{target};
  else
    return static_cast<T&&>(target);
}

}  // namespace iruka
