// Blocks of sixteen vectors are added in float32, the input's type, and the blocks' sums in float64. This is half the
// work of float64, with fewer float32 roundings than a pairwise sum.
#pragma once

#include "ops/reduce/kernels/cpu/accumulator.h"

namespace iruka::reduction {

template <class Loads>
struct NarrowBlocks : Loads {
  using typename Loads::VC;
  static constexpr ptrdiff_t W = Loads::W;
  typename Loads::VA lanes = Loads::start_lanes();
  IRUKA_INLINE ptrdiff_t add_blocks(const char* p, ptrdiff_t last, ptrdiff_t stride) {
    ptrdiff_t i = 0;
    for (; i + 15 * W <= last; i += 16 * W) {
      VC v = Loads::prepare(Loads::load_computed(p + i * stride, stride));
      for (int k = 1; k < 16; ++k) v = v + Loads::prepare(Loads::load_computed(p + (i + k * W) * stride, stride));
      lanes = Loads::combine_lanes(lanes, Loads::cast(v));
    }
    return i;
  }
  IRUKA_INLINE void join_leaves() {}
};

}  // namespace iruka::reduction
