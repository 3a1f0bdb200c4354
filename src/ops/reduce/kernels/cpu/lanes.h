// Functions that the map of a row may call, for vectors (Clang's vector extension). The number of lanes is the same on
// every machine, so results do not depend on the machine. Raw is the element type of vectors of stored elements.
#pragma once

#include "ops/reduce/kernels/cpu/elements.h"

namespace iruka::reduction {

template <class Types>
struct Lanes : Elements<Types> {
  using Base = Elements<Types>;
  using typename Types::A;
  using typename Types::C;
  using typename Types::In;
  using typename Types::Raw;
  static constexpr ptrdiff_t W = Types::kLanes;
  typedef Raw VRaw __attribute__((ext_vector_type(W)));
  typedef Raw VSpread __attribute__((ext_vector_type(2 * W)));
  typedef unsigned VBits __attribute__((ext_vector_type(W)));
  typedef C VC __attribute__((ext_vector_type(W)));
  typedef A VA __attribute__((ext_vector_type(W)));

  static IRUKA_INLINE VC widen(VRaw raw) {
    if constexpr (Types::kIsTruth) {
      return __builtin_convertvector((raw != (VRaw)(Raw(0))) & 1, VC);
    } else if constexpr (iruka::is_same<In, bfloat16>) {
      return __builtin_bit_cast(VC, __builtin_convertvector(raw, VBits) << 16);
    } else {
      return __builtin_convertvector(raw, VC);
    }
  }
  using Base::cast;
  using Base::magnitude;
  using Base::nonzero;
  using Base::number_or;
  using Base::squared_magnitude;
  static IRUKA_INLINE VA cast(VC x) { return __builtin_convertvector(x, VA); }
  static IRUKA_INLINE VA nonzero(VC x) { return __builtin_convertvector((x != (VC)(C(0))) & 1, VA); }
  static IRUKA_INLINE VC number_or(VC x, int other) { return (x == x) ? x : (VC)(C(other)); }
  static IRUKA_INLINE VA magnitude(VC x) { return cast((x < (VC)(C(0))) ? -x : x); }
  static IRUKA_INLINE VA squared_magnitude(VC x) { return cast(x) * cast(x); }
};

}  // namespace iruka::reduction
