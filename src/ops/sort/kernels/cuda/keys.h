// Unsigned keys in the order of the elements, the same as in sort_keys.h. The generated text defines Format: the bits
// of a real part, the key, and the kind of number.
#pragma once

namespace iruka::sorting {

/// Converts between elements and keys. equal_key() gives equal elements the same key.
template <class Format>
struct IntegerKeys : Format {
  using typename Format::Bits;
  using typename Format::Key;
  using X = Bits;
  static constexpr Bits kSign = Bits(Bits(1) << (sizeof(Bits) * 8 - 1));

  static inline Key key(Bits bits) {
    return Format::kIsBool ? Key(bits != 0) : Key(bits ^ (Format::kIsSigned ? kSign : Bits(0)));
  }
  static inline Bits bits_of(Key key) { return Bits(key ^ (Format::kIsSigned ? kSign : Bits(0))); }
  static inline Key equal_key(Bits bits) { return key(bits); }
};

template <class Format>
struct FloatKeys : Format {
  using typename Format::Bits;
  using X = Bits;
  static constexpr Bits kSign = Bits(Bits(1) << (sizeof(Bits) * 8 - 1));
  static constexpr Bits kNegativeNans = Bits((Bits(1) << Format::kMantissa) - 1);

  static inline bool is_nan(Bits bits) { return Bits(bits & Bits(~kSign)) > Bits(~kNegativeNans & ~kSign); }
  static inline Bits key(Bits bits) { return Bits((bits & kSign ? Bits(~bits) : Bits(bits ^ kSign)) - kNegativeNans); }
  static inline Bits bits_of(Bits key) {
    const Bits shifted = Bits(key + kNegativeNans);
    return shifted & kSign ? Bits(shifted ^ kSign) : Bits(~shifted);
  }
  static inline Bits equal_key(Bits bits) {
    if (is_nan(bits)) return Bits(~Bits(0));
    return key(bits == kSign ? Bits(0) : bits);
  }
};

/// A complex number has two words; the high one decides first.
template <class Format>
struct ComplexKeys : FloatKeys<Format> {
  using typename Format::Bits;
  struct X {
    Bits real, imaginary;
  };

  static inline Bits high_word(X x) {
    const Bits last = Bits(~Bits(0));
    if (ComplexKeys::is_nan(x.real)) return ComplexKeys::is_nan(x.imaginary) ? last : Bits(last - 1);
    return ComplexKeys::is_nan(x.imaginary) ? Bits(last - 2) : ComplexKeys::equal_key(x.real);
  }
  static inline Bits low_word(X x) {
    if (ComplexKeys::is_nan(x.imaginary)) return ComplexKeys::is_nan(x.real) ? Bits(0) : ComplexKeys::equal_key(x.real);
    return ComplexKeys::equal_key(x.imaginary);
  }
};

}  // namespace iruka::sorting
