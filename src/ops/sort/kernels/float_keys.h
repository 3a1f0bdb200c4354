constexpr Bits kNegativeNans = Bits((Bits(1) << kMantissa) - 1), kInfinityBits = Bits(~kNegativeNans & ~kSign);
inline bool is_nan(Bits bits) { return Bits(bits & Bits(~kSign)) > kInfinityBits; }
inline Bits key(Bits bits) { return Bits((bits & kSign ? Bits(~bits) : Bits(bits ^ kSign)) - kNegativeNans); }
inline Bits bits_of(Bits key) {
  const Bits shifted = Bits(key + kNegativeNans);
  return shifted & kSign ? Bits(shifted ^ kSign) : Bits(~shifted);
}
inline Bits equal_key(Bits bits) {
  if (is_nan(bits)) return Bits(~Bits(0));
  return key(bits == kSign ? Bits(0) : bits);
}
