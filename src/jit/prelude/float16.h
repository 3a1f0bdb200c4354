// float16 (IEEE binary16) and bfloat16: two bytes in memory; arithmetic is in float.
#pragma once

#include "target.h"

namespace iruka {

/// Rounds to float, with the last bit set where the result is inexact. A second rounding, to a format at least two bits
/// narrower, then gives the result of a single one (Boldo and Melquiond, 2008).
IRUKA_INLINE float round_to_odd(double x) {
  float nearest = (float)x;
  double back = nearest;
  unsigned bits = __float_as_uint(nearest);
  bool away_from_zero = (back > x) == (x > 0);
  unsigned odd = (bits - (away_from_zero ? 1u : 0u)) | 1u;
  return back == x || x != x ? nearest : __uint_as_float(odd);
}

struct Binary16 {
  static IRUKA_INLINE float decode(uint16_t bits) { return half_to_float(bits); }
  static IRUKA_INLINE uint16_t encode(float x) { return float_to_half(x); }
  /// An integer that float rounds is beyond 65504, so it becomes infinite in any case.
  template <Integer T> static IRUKA_INLINE uint16_t encode_integer(T x) { return encode((float)x); }
};

struct Brain16 {
  static IRUKA_INLINE float decode(uint16_t bits) { return __uint_as_float((unsigned)bits << 16); }
  static IRUKA_INLINE uint16_t encode(float x) {
    unsigned bits = __float_as_uint(x);
    unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    unsigned quiet_nan = bits >> 16 | 0x40u;
    return (uint16_t)(x != x ? quiet_nan : rounded);
  }
  /// An integer wider than double's significand keeps its high bits and one bit that is set if any other is.
  template <Integer T> static IRUKA_INLINE uint16_t encode_integer(T x) {
    if constexpr (sizeof(T) == 8) {
      uint64_t limit = (uint64_t)1 << 48;
      bool wide = (is_signed<T> ? (uint64_t)x + limit : (uint64_t)x) > 2 * limit;
      T coarse = (T)((x & ~(T)0xffff) | ((x & 0xffff) != 0 ? (T)0x8000 : (T)0));
      return encode(round_to_odd((double)(wide ? coarse : x)));
    } else {
      return encode(round_to_odd((double)x));
    }
  }
};

/// A 16-bit floating-point number. Arithmetic with its own type or an integer gives its type; with float or double it
/// gives the wider type. Every conversion rounds once, to nearest even.
template <class FormatType> struct SmallFloat {
  using Format = FormatType;

  uint16_t bits_;

  SmallFloat() = default;
  template <class T>
    requires(number_kind<T> != NumberKind::none)
  IRUKA_INLINE SmallFloat(T x) {
    if constexpr (is_same<T, double>)
      bits_ = Format::encode(round_to_odd(x));
    else if constexpr (number_kind<T> == NumberKind::integer)
      bits_ = Format::encode_integer(x);
    else
      bits_ = Format::encode((float)x);
  }
  IRUKA_INLINE operator float() const { return Format::decode(bits_); }

  IRUKA_INLINE SmallFloat operator+() const { return *this; }
  IRUKA_INLINE SmallFloat operator-() const { return from_bits((uint16_t)(bits_ ^ 0x8000u)); }
  template <class T> IRUKA_INLINE SmallFloat& operator+=(T x) { return *this = *this + x; }
  template <class T> IRUKA_INLINE SmallFloat& operator-=(T x) { return *this = *this - x; }
  template <class T> IRUKA_INLINE SmallFloat& operator*=(T x) { return *this = *this * x; }
  template <class T> IRUKA_INLINE SmallFloat& operator/=(T x) { return *this = *this / x; }
  IRUKA_INLINE SmallFloat& operator++() { return *this = (float)*this + 1.0f; }
  IRUKA_INLINE SmallFloat& operator--() { return *this = (float)*this - 1.0f; }
  IRUKA_INLINE SmallFloat operator++(int) {
    SmallFloat old = *this;
    ++*this;
    return old;
  }
  IRUKA_INLINE SmallFloat operator--(int) {
    SmallFloat old = *this;
    --*this;
    return old;
  }

  static IRUKA_INLINE SmallFloat from_bits(uint16_t bits) {
    SmallFloat x;
    x.bits_ = bits;
    return x;
  }
};

template <class Format> inline constexpr NumberKind number_kind<SmallFloat<Format>> = NumberKind::small;

// Both operands' types are deduced, so that float16 + float uses the built-in operator alone.
#define IRUKA_SMALL_OPERATOR(op)                                                                \
  template <class F> IRUKA_INLINE SmallFloat<F> operator op(SmallFloat<F> a, SmallFloat<F> b) { \
    return (float)a op(float) b;                                                                \
  }                                                                                             \
  template <class F, Integer I> IRUKA_INLINE SmallFloat<F> operator op(SmallFloat<F> a, I b) {  \
    return (float)a op(float) b;                                                                \
  }                                                                                             \
  template <class F, Integer I> IRUKA_INLINE SmallFloat<F> operator op(I a, SmallFloat<F> b) {  \
    return (float)a op(float) b;                                                                \
  }
IRUKA_SMALL_OPERATOR(+)
IRUKA_SMALL_OPERATOR(-)
IRUKA_SMALL_OPERATOR(*)
IRUKA_SMALL_OPERATOR(/)
#undef IRUKA_SMALL_OPERATOR

template <class F> IRUKA_INLINE uint16_t to_bits(SmallFloat<F> x) { return x.bits_; }

/// a * b + c, rounded once. The product is exact in double. Of a sum that is not, the last bit is set, as in
/// round_to_odd; Knuth's two-sum (The Art of Computer Programming 2, 4.2.2) gives the sum's error.
template <class F> IRUKA_INLINE SmallFloat<F> fused_multiply_add(SmallFloat<F> a, SmallFloat<F> b, SmallFloat<F> c) {
  double product = (double)(float)a * (float)b, addend = (float)c, sum = product + addend;
  double added = sum - product, error = (product - (sum - added)) + (addend - added);
  bool is_exact = !(error < 0 || error > 0);  // also where the sum is infinite or NaN
  long long bits = __double_as_longlong(sum), toward_zero = bits - ((error > 0) != (sum > 0) ? 1 : 0);
  return is_exact ? sum : __longlong_as_double(toward_zero | 1);
}

}  // namespace iruka

using float16 = iruka::SmallFloat<iruka::Binary16>;
using bfloat16 = iruka::SmallFloat<iruka::Brain16>;
