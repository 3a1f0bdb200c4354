// The operations of scans: the start value, which leaves the first element unchanged (-0, too), and how two values
// combine. A is the accumulator's type.
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
  /// A complex product with 1 would turn the other part of an infinity into NaN.
  static IRUKA_INLINE A combine(A a, A b) { return is_start(a) ? b : is_start(b) ? a : a * b; }
};

/// The generated text defines the start value of these.
template <class A>
struct Minimum {
  static IRUKA_INLINE A combine(A a, A b) { return (a == a) & ((b < a) | (b != b)) ? b : a; }
};
template <class A>
struct Maximum {
  static IRUKA_INLINE A combine(A a, A b) { return (a == a) & ((b > a) | (b != b)) ? b : a; }
};

/// The value that an element contributes.
template <class Types>
IRUKA_INLINE typename Types::A map(typename Types::In value) {
  if constexpr (Types::kSkipsNan) {
    if (value != value) return Types::start();
  }
  return Types::taken(value);
}

}  // namespace iruka::scan
