// How the CPU loads vectors of elements and combines them.
#pragma once

#include "ops/reduce/kernels/cpu/lanes.h"

namespace iruka::reduction {

template <class Partials>
struct Vectors : Partials {
  using typename Partials::A;
  using typename Partials::Raw;
  using typename Partials::VA;
  using typename Partials::VC;
  using typename Partials::VRaw;
  static constexpr bool kHasVectors = true;
  static constexpr ptrdiff_t W = Partials::W, kSpacing = Partials::kSpacing;
  /// How many elements a load reads: at a spacing of two, also those between.
  static constexpr ptrdiff_t kReach = kSpacing == 2 ? 2 * W : W;

  static IRUKA_INLINE VA start_lanes() { return (VA)(Partials::start()); }
  static IRUKA_INLINE VA combine_lanes(VA a, VA b) { return Partials::combine(a, b); }
  static IRUKA_INLINE VRaw load_raw(const char* p, [[maybe_unused]] ptrdiff_t stride) {
    VRaw raw;
    if constexpr (kSpacing == 1) {
      __builtin_memcpy(&raw, p, sizeof(raw));
    } else if constexpr (kSpacing == 2) {
      typename Partials::VSpread spread;
      __builtin_memcpy(&spread, p, sizeof(spread));
      raw = spread.even;
    } else {
      for (int l = 0; l < W; ++l) raw[l] = *(const Raw*)(p + l * stride);
    }
    return raw;
  }
  static IRUKA_INLINE VC load_computed(const char* p, ptrdiff_t stride) { return Partials::widen(load_raw(p, stride)); }
  static IRUKA_INLINE VA load(const char* p, ptrdiff_t stride) { return Partials::map(load_computed(p, stride)); }
  /// Reduces the lanes of a vector to one value by halves.
  template <class V>
  static IRUKA_INLINE A fold(V v) {
    if constexpr (sizeof(V) == 2 * sizeof(A)) {
      return Partials::combine(A(v[0]), A(v[1]));
    } else {
      return fold(Partials::combine(v.lo, v.hi));
    }
  }
};

}  // namespace iruka::reduction
