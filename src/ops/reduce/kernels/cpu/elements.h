// How the CPU reads one element.
#pragma once

#include "ops/reduce/kernels/scalars.h"

namespace iruka::reduction {

template <class Types>
struct Elements : Scalars<Types> {
  using typename Types::C;
  using typename Types::In;
  static constexpr ptrdiff_t kSpacing = Types::kSpacing;

  static IRUKA_INLINE C element(const char* p, ptrdiff_t i, [[maybe_unused]] ptrdiff_t stride) {
    const In value = kSpacing ? ((const In*)p)[i * kSpacing] : *(const In*)(p + i * stride);
    return Scalars<Types>::computed(value);
  }
  /// A constant for neighbouring elements.
  template <class Arguments>
  static IRUKA_INLINE ptrdiff_t stride_of([[maybe_unused]] const Arguments& a) {
    return kSpacing ? kSpacing * (ptrdiff_t)sizeof(In) : a.stride;
  }
};

}  // namespace iruka::reduction
