struct Element { Bits real, imaginary; };
inline Bits high_word(Element x) {
  const Bits last = Bits(~Bits(0));
  if (is_nan(x.real)) return is_nan(x.imaginary) ? last : Bits(last - 1);
  return is_nan(x.imaginary) ? Bits(last - 2) : equal_key(x.real);
}
inline Bits low_word(Element x) {
  if (is_nan(x.imaginary)) return is_nan(x.real) ? Bits(0) : equal_key(x.real);
  return equal_key(x.imaginary);
}
