// Elements as unsigned integers that compare as the elements do, on the CPU. sort_cuda.cpp says the same in CUDA.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "iruka/dtype.h"

namespace iruka::ops {

/// How the bits of an element become a key.
enum class KeyKind : uint8_t { boolean, unsigned_integer, signed_integer, floating };

template <class Bits, KeyKind kKind>
struct NumberOfBits {
  static constexpr bool kIsFloat = kKind == KeyKind::floating;
  using Four =
      std::conditional_t<kIsFloat, float, std::conditional_t<kKind == KeyKind::signed_integer, int32_t, uint32_t>>;
  using Eight =
      std::conditional_t<kIsFloat, double, std::conditional_t<kKind == KeyKind::signed_integer, int64_t, uint64_t>>;
  using Type = std::conditional_t<sizeof(Bits) == 4, Four, std::conditional_t<sizeof(Bits) == 8, Eight, void>>;
};

/// `Bits` is an unsigned integer as wide as the element; `kMantissa` is the length of a float's mantissa.
template <class Bits, KeyKind kKind, int kMantissa = 0>
struct RealKey {
  using Element = Bits;
  using Key = Bits;
  /// The elements' own type, if vector instructions sort it; else void.
  using Number = typename NumberOfBits<Bits, kKind>::Type;
  static constexpr bool kHasNan = kKind == KeyKind::floating;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  static constexpr Bits kNegativeNans = static_cast<Bits>((Bits{1} << kMantissa) - 1);
  static constexpr Bits kInfinity = static_cast<Bits>(static_cast<Bits>(~kNegativeNans) & static_cast<Bits>(~kSign));

  static bool is_nan(Bits bits) { return kHasNan && static_cast<Bits>(bits & ~kSign) > kInfinity; }

  /// A bijection: -0 comes before 0, and NaN of either sign comes last.
  static Key key(Bits bits) {
    if constexpr (kKind == KeyKind::boolean) return bits != 0;
    if constexpr (kKind == KeyKind::unsigned_integer) return bits;
    if constexpr (kKind == KeyKind::signed_integer) return static_cast<Key>(bits ^ kSign);
    const auto flip = static_cast<Bits>(static_cast<std::make_signed_t<Bits>>(bits) >> (sizeof(Bits) * 8 - 1)) | kSign;
    return static_cast<Key>((bits ^ flip) - kNegativeNans);
  }
  /// Equal elements have equal keys: -0 and 0, all NaN.
  static Key equal_key(Bits bits) {
    if constexpr (kKind != KeyKind::floating) return key(bits);
    if (is_nan(bits)) return static_cast<Key>(~Key{0});
    return key(bits == kSign ? Bits{0} : bits);
  }
};

/// NumPy's order: numbers; then those with a NaN imaginary part, by real part; then those with a NaN real part, by
/// imaginary part; then those with two NaN parts. The high word distinguishes these groups: keys of real parts leave
/// its highest values free.
template <class Part>
struct ComplexKey {
  using Word = typename Part::Key;
  struct Element {
    Word real, imaginary;
  };
  static constexpr Word kNanImaginary = static_cast<Word>(~Word{0} - 2), kNanReal = kNanImaginary + 1;

  static Word high(Element x) {
    if (Part::is_nan(x.real)) return Part::is_nan(x.imaginary) ? static_cast<Word>(~Word{0}) : kNanReal;
    return Part::is_nan(x.imaginary) ? kNanImaginary : Part::equal_key(x.real);
  }
  static Word low(Element x) {
    if (Part::is_nan(x.imaginary)) return Part::is_nan(x.real) ? Word{0} : Part::equal_key(x.real);
    return Part::equal_key(x.imaginary);
  }
};

using Float16Key = RealKey<uint16_t, KeyKind::floating, 10>;
using Bfloat16Key = RealKey<uint16_t, KeyKind::floating, 7>;
using Float32Key = RealKey<uint32_t, KeyKind::floating, 23>;
using Float64Key = RealKey<uint64_t, KeyKind::floating, 52>;

struct Complex64Key : ComplexKey<Float32Key> {
  using Key = uint64_t;
  static Key equal_key(Element x) { return static_cast<Key>(high(x)) << 32 | low(x); }
};
/// Two words make a complex128's key: it is sorted by the low one, then by the high one.
struct Complex128LowKey : ComplexKey<Float64Key> {
  using Key = uint64_t;
  static Key equal_key(Element x) { return low(x); }
};
struct Complex128HighKey : ComplexKey<Float64Key> {
  using Key = uint64_t;
  static Key equal_key(Element x) { return high(x); }
};

/// Calls visit(RealKey<...>{}) for the dtype of real elements; false for a complex one.
template <class Visit>
bool visit_real_key(Dtype dtype, Visit&& visit) {
  using enum KeyKind;
  switch (dtype) {
    case Dtype::bool_: return visit(RealKey<uint8_t, boolean>{}), true;
    case Dtype::int8: return visit(RealKey<uint8_t, signed_integer>{}), true;
    case Dtype::int16: return visit(RealKey<uint16_t, signed_integer>{}), true;
    case Dtype::int32: return visit(RealKey<uint32_t, signed_integer>{}), true;
    case Dtype::int64: return visit(RealKey<uint64_t, signed_integer>{}), true;
    case Dtype::uint8: return visit(RealKey<uint8_t, unsigned_integer>{}), true;
    case Dtype::uint16: return visit(RealKey<uint16_t, unsigned_integer>{}), true;
    case Dtype::uint32: return visit(RealKey<uint32_t, unsigned_integer>{}), true;
    case Dtype::uint64: return visit(RealKey<uint64_t, unsigned_integer>{}), true;
    case Dtype::float16: return visit(Float16Key{}), true;
    case Dtype::bfloat16: return visit(Bfloat16Key{}), true;
    case Dtype::float32: return visit(Float32Key{}), true;
    case Dtype::float64: return visit(Float64Key{}), true;
    default: return false;
  }
}

}  // namespace iruka::ops
