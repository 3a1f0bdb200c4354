template <class T> inline bool differ(T a, T b, bool equal_nan) {
  return !(a == b) && !(equal_nan && a != a && b != b);
}
