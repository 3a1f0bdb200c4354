// What a scan starts from, so that its first element stays as it is (-0 too), and how it combines two values. A is what
// is carried from element to element.
#pragma once

namespace iruka::scan {

template <class A>
struct Add {
  static IRUKA_INLINE A start() { return A(-0.0); }
  static IRUKA_INLINE A combine(A a, A b) { return a + b; }
};
template <class F>
struct Add<complex<F>> {
  using A = complex<F>;
  static IRUKA_INLINE A start() { return A(-0.0, -0.0); }
  static IRUKA_INLINE A combine(A a, A b) { return a + b; }
};

template <class A>
struct Multiply {
  static IRUKA_INLINE A start() { return A(1); }
  static IRUKA_INLINE A combine(A a, A b) { return a * b; }
};
template <class F>
struct Multiply<complex<F>> {
  using A = complex<F>;
  static IRUKA_INLINE A start() { return A(1.0, -0.0); }
  static IRUKA_INLINE bool is_start(A a) { return a.real() == 1 && a.imag() == 0 && 1 / a.imag() < 0; }
  /// A product with 1 would make NaN of infinities' other part.
  static IRUKA_INLINE A combine(A a, A b) { return is_start(a) ? b : is_start(b) ? a : a * b; }
};

/// The text says what these start from.
template <class A>
struct Minimum {
  static IRUKA_INLINE A combine(A a, A b) { return (a == a) & ((b < a) | (b != b)) ? b : a; }
};
template <class A>
struct Maximum {
  static IRUKA_INLINE A combine(A a, A b) { return (a == a) & ((b > a) | (b != b)) ? b : a; }
};

/// An element as it takes part.
template <class Types>
IRUKA_INLINE typename Types::A map(typename Types::In value) {
  if constexpr (Types::kSkipsNan) {
    if (value != value) return Types::start();
  }
  return Types::taken(value);
}

}  // namespace iruka::scan
