// For `#include <limits>`, `<cstdint>`, `<algorithm>`, `<utility>`, `<type_traits>`, `<cmath>` and others
// (jit/includes.cpp has the list): their names that kernels use, in namespace std.
#pragma once

#include "functions.h"

namespace std {

using ::int8_t, ::int16_t, ::int32_t, ::int64_t, ::uint8_t, ::uint16_t, ::uint32_t, ::uint64_t;
using ::intmax_t, ::uintmax_t, ::intptr_t, ::uintptr_t, ::size_t, ::ptrdiff_t;
using int_least8_t = int8_t;
using int_least16_t = int16_t;
using int_least32_t = int32_t;
using int_least64_t = int64_t;
using uint_least8_t = uint8_t;
using uint_least16_t = uint16_t;
using uint_least32_t = uint32_t;
using uint_least64_t = uint64_t;
using int_fast8_t = int8_t;
using int_fast16_t = int64_t;
using int_fast32_t = int64_t;
using int_fast64_t = int64_t;
using uint_fast8_t = uint8_t;
using uint_fast16_t = uint64_t;
using uint_fast32_t = uint64_t;
using uint_fast64_t = uint64_t;
using nullptr_t = decltype(nullptr);

using ::abs, ::fabs, ::fmod, ::remainder, ::fma, ::fmax, ::fmin, ::fdim, ::pow, ::sqrt, ::cbrt, ::hypot;
using ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atan2, ::atanh, ::cos, ::cosh, ::sin, ::sinh, ::tan, ::tanh;
using ::ceil, ::floor, ::trunc, ::round, ::rint, ::nearbyint, ::frexp, ::ldexp, ::modf, ::logb;
using ::copysign, ::nextafter, ::isfinite, ::isinf, ::isnan, ::signbit;
using ::erf, ::erfc, ::exp, ::exp2, ::expm1, ::lgamma, ::log, ::log10, ::log1p, ::log2, ::tgamma;

// Types

template <class T, T constant> struct integral_constant {
  static constexpr T value = constant;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return constant; }
  constexpr T operator()() const { return constant; }
};
template <bool constant> using bool_constant = integral_constant<bool, constant>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class T> struct remove_reference {
  using type = T;
};
template <class T> struct remove_reference<T&> {
  using type = T;
};
template <class T> struct remove_reference<T&&> {
  using type = T;
};
template <class T> struct remove_const {
  using type = T;
};
template <class T> struct remove_const<const T> {
  using type = T;
};
template <class T> struct remove_volatile {
  using type = T;
};
template <class T> struct remove_volatile<volatile T> {
  using type = T;
};
template <class T> struct remove_cv {
  using type = typename remove_const<typename remove_volatile<T>::type>::type;
};
template <bool condition, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> {
  using type = T;
};
template <bool condition, class A, class B> struct conditional {
  using type = iruka::Choose<condition, A, B>;
};
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <bool condition, class T = void> using enable_if_t = typename enable_if<condition, T>::type;
template <bool condition, class A, class B> using conditional_t = iruka::Choose<condition, A, B>;

template <class A, class B> struct is_same : bool_constant<iruka::is_same<A, B>> {};
template <class T>
struct is_integral : bool_constant<iruka::number_kind<remove_cv_t<T>> == iruka::NumberKind::integer> {};
template <class T>
struct is_floating_point : bool_constant<iruka::number_kind<remove_cv_t<T>> == iruka::NumberKind::floating> {};
template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T> struct is_signed : bool_constant<false> {};
template <class T>
  requires(is_arithmetic<T>::value)
struct is_signed<T> : bool_constant<iruka::is_signed<T>> {};
template <class T> struct is_unsigned : bool_constant<is_arithmetic<T>::value && !is_signed<T>::value> {};
template <class A, class B> inline constexpr bool is_same_v = iruka::is_same<A, B>;
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;

// Functions of values

#ifndef __CUDACC_RTC__  // NVRTC has these two
template <class T> IRUKA_INLINE constexpr remove_reference_t<T>&& move(T&& x) noexcept {
  return static_cast<remove_reference_t<T>&&>(x);
}
template <class T> IRUKA_INLINE constexpr T&& forward(remove_reference_t<T>& x) noexcept { return static_cast<T&&>(x); }
#endif
template <class T> IRUKA_INLINE constexpr void swap(T& a, T& b) noexcept {
  T old = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(old);
}
template <class T, size_t n> IRUKA_INLINE constexpr void swap(T (&a)[n], T (&b)[n]) noexcept {
  for (size_t k = 0; k < n; ++k) std::swap(a[k], b[k]);
}
template <class T, class U = T> IRUKA_INLINE constexpr T exchange(T& x, U&& next) {
  T old = static_cast<T&&>(x);
  x = static_cast<U&&>(next);
  return old;
}

struct less_of_two {
  template <class T> IRUKA_INLINE constexpr bool operator()(const T& a, const T& b) const { return a < b; }
};
template <class T, class Less = less_of_two>
IRUKA_INLINE constexpr const T& min(const T& a, const T& b, Less less = {}) {
  return less(b, a) ? b : a;
}
template <class T, class Less = less_of_two>
IRUKA_INLINE constexpr const T& max(const T& a, const T& b, Less less = {}) {
  return less(a, b) ? b : a;
}
template <class T, class Less = less_of_two>
IRUKA_INLINE constexpr const T& clamp(const T& x, const T& low, const T& high, Less less = {}) {
  return less(x, low) ? low : less(high, x) ? high : x;
}

// Limits

/// The limits of a number type; of another one, 0.
template <class Given> struct numeric_limits {
  using T = remove_cv_t<Given>;
  static constexpr bool is_specialized = iruka::number_kind<T> != iruka::NumberKind::none;
  static constexpr bool is_integer = is_integral<T>::value;
  static constexpr bool is_exact = is_integer;
  static constexpr bool is_signed = is_specialized && (!is_integer || std::is_signed<T>::value);
  static constexpr bool is_bounded = is_specialized;
  static constexpr bool has_infinity = is_specialized && !is_integer;
  static constexpr bool has_quiet_NaN = has_infinity;
  static constexpr bool is_iec559 = has_infinity;
  static constexpr int radix = is_specialized ? 2 : 0;

 private:
  static constexpr bool is_half = iruka::is_same<T, ::float16>, is_double = iruka::is_same<T, double>;
  static constexpr bool is_brain = iruka::is_same<T, ::bfloat16>;

 public:
  static constexpr int digits = iruka::is_same<T, bool> ? 1
                                : is_integer            ? int(sizeof(T)) * 8 - is_signed
                                : !is_specialized       ? 0
                                : is_half               ? 11
                                : is_brain              ? 8
                                : is_double             ? 53
                                                        : 24;
  static constexpr int digits10 = !is_specialized ? 0 : (digits - !is_integer) * 30103 / 100000;
  static constexpr int max_digits10 = has_infinity ? 2 + digits * 30103 / 100000 : 0;
  static constexpr int max_exponent = !has_infinity ? 0 : is_half ? 16 : is_double ? 1024 : 128;
  static constexpr int min_exponent = has_infinity ? 3 - max_exponent : 0;

  static IRUKA_INLINE constexpr Given max() noexcept {
    if constexpr (is_half)
      return T::from_bits(0x7bff);
    else if constexpr (is_brain)
      return T::from_bits(0x7f7f);
    else if constexpr (is_double)
      return DBL_MAX;
    else if constexpr (has_infinity)
      return FLT_MAX;
    else if constexpr (iruka::is_same<T, bool>)
      return true;
    else if constexpr (is_integer)
      return (T)(~0ull >> (64 - digits));
    else
      return T();
  }
  /// The least number of an integer type; of others the least normal number above 0.
  static IRUKA_INLINE constexpr Given min() noexcept {
    if constexpr (is_half)
      return T::from_bits(0x0400);
    else if constexpr (is_brain)
      return T::from_bits(0x0080);
    else if constexpr (is_double)
      return DBL_MIN;
    else if constexpr (has_infinity)
      return FLT_MIN;
    else if constexpr (is_integer && is_signed)
      return (T)(-max() - 1);
    else
      return T();
  }
  static IRUKA_INLINE constexpr Given lowest() noexcept {
    if constexpr (is_half || is_brain)
      return T::from_bits((uint16_t)(is_half ? 0xfbff : 0xff7f));
    else if constexpr (has_infinity)
      return -max();
    else
      return min();
  }
  static IRUKA_INLINE constexpr Given epsilon() noexcept {
    if constexpr (is_half || is_brain)
      return T::from_bits((uint16_t)(is_half ? 0x1400 : 0x3c00));
    else if constexpr (has_infinity)
      return is_double ? (T)DBL_EPSILON : (T)FLT_EPSILON;
    else
      return T();
  }
  static IRUKA_INLINE constexpr Given denorm_min() noexcept {
    if constexpr (is_half || is_brain)
      return T::from_bits(1);
    else if constexpr (has_infinity)
      return is_double ? (T)0x1p-1074 : (T)0x1p-149;
    else
      return T();
  }
  static IRUKA_INLINE constexpr Given infinity() noexcept {
    if constexpr (is_half || is_brain)
      return T::from_bits((uint16_t)(is_half ? 0x7c00 : 0x7f80));
    else if constexpr (has_infinity)
      return (T)INFINITY;
    else
      return T();
  }
  static IRUKA_INLINE constexpr Given quiet_NaN() noexcept {
    if constexpr (is_half || is_brain)
      return T::from_bits((uint16_t)(is_half ? 0x7e00 : 0x7fc0));
    else if constexpr (has_infinity)
      return (T)NAN;
    else
      return T();
  }
};

}  // namespace std
