template <class T> inline bool precedes(T a, T b) { return a < b; }
template <class P> inline bool precedes(complex<P> a, complex<P> b) {
  return a == a && (a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag()));
}
