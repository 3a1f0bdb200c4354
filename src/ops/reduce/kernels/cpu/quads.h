// Complex numbers, which no vector type holds: four accumulators, so that additions overlap.
#pragma once

#include "ops/reduce/kernels/cpu/elements.h"

namespace iruka::reduction {

template <class Partials>
struct Quads : Partials {
  using typename Partials::A;
  static constexpr bool kHasVectors = false;
  static constexpr ptrdiff_t W = 4, kReach = W;
  struct VA {
    A lane[W];
  };

  static IRUKA_INLINE VA start_lanes() {
    return {Partials::start(), Partials::start(), Partials::start(), Partials::start()};
  }
  static IRUKA_INLINE VA combine_lanes(VA a, VA b) {
    for (int l = 0; l < W; ++l) a.lane[l] = Partials::combine(a.lane[l], b.lane[l]);
    return a;
  }
  static IRUKA_INLINE VA load(const char* p, ptrdiff_t stride) {
    VA v;
    for (int l = 0; l < W; ++l) v.lane[l] = Partials::map(Partials::element(p, l, stride));
    return v;
  }
  static IRUKA_INLINE A fold(VA v) {
    return Partials::combine(Partials::combine(v.lane[0], v.lane[2]), Partials::combine(v.lane[1], v.lane[3]));
  }
};

}  // namespace iruka::reduction
