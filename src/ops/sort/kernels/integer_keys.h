// The same keys as sort_keys.h's.
inline Key key(Bits bits) { return kIsBool ? Key(bits != 0) : Key(bits ^ (kIsSigned ? kSign : Bits(0))); }
inline Bits bits_of(Key key) { return Bits(key ^ (kIsSigned ? kSign : Bits(0))); }
inline Key equal_key(Bits bits) { return key(bits); }
