// Comparisons as in NumPy's clip: of complex numbers a NaN imaginary part counts only where the real parts are equal.
namespace op {
template <class T> inline bool is_nan(T x) { return x != x; }
template <class F> inline bool is_nan(complex<F> x) { return x.real() != x.real() || x.imag() != x.imag(); }
template <class T> inline bool is_less(T a, T b) { return a < b; }
template <class F> inline bool is_less(complex<F> a, complex<F> b) {
  return a.real() == b.real() ? a.imag() < b.imag() : a.real() < b.real();
}
template <class T> inline T clip(T x, T low, T high) {
  const T raised = is_nan(x) || is_less(low, x) ? x : low;
  return is_nan(raised) || is_less(raised, high) ? raised : high;
}
}  // namespace op
