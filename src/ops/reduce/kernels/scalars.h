// Functions that the map of a reduction's row may call, for one element. The generated text defines Types: In is the
// stored type, C the type of computations, A the accumulator's, Narrow the type that adds a few elements.
#pragma once

#include "ops/elementwise/kernels/absolute.h"

namespace iruka::reduction {

template <class Types>
struct Scalars : Types {
  using typename Types::A;
  using typename Types::C;
  using typename Types::In;
  using typename Types::Narrow;

  /// A bool is true for every byte other than 0.
  static IRUKA_INLINE C computed(In value) {
    if constexpr (Types::kIsTruth) {
      return C(value != 0);
    } else {
      return C(value);
    }
  }
  template <class X>
  static IRUKA_INLINE Narrow cast(X x) {
    return Narrow(x);
  }
  static IRUKA_INLINE Narrow nonzero(C x) { return Narrow(x != C(0)); }
  static IRUKA_INLINE C number_or(C x, int other) { return x == x ? x : C(other); }
  static IRUKA_INLINE A magnitude(C x) { return A(op::absolute(x)); }
  static IRUKA_INLINE A squared_magnitude(C x) {
    if constexpr (Types::kIsComplex) {
      return A(x.real()) * A(x.real()) + A(x.imag()) * A(x.imag());
    } else {
      return A(x) * A(x);
    }
  }
};

}  // namespace iruka::reduction
