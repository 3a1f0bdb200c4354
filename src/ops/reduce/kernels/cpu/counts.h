// Counts nonzero elements in lanes of the elements' size, 64 vectors at a time.
#pragma once

#include "ops/reduce/kernels/cpu/accumulator.h"

namespace iruka::reduction {

template <class Loads>
struct Counts : Loads {
  using typename Loads::Raw;
  using typename Loads::VA;
  using typename Loads::VRaw;
  static constexpr ptrdiff_t W = Loads::W;
  VA lanes = Loads::start_lanes();
  IRUKA_INLINE ptrdiff_t add_blocks(const char* p, ptrdiff_t last, ptrdiff_t stride) {
    constexpr int kVectors = 64;
    ptrdiff_t i = 0;
    for (; i + (kVectors - 1) * W <= last; i += kVectors * W) {
      auto narrow = Loads::load_raw(p + i * stride, stride) != (VRaw)(Raw(0));
      for (int k = 1; k < kVectors; ++k)
        narrow = narrow + (Loads::load_raw(p + (i + k * W) * stride, stride) != (VRaw)(Raw(0)));
      lanes = lanes - __builtin_convertvector(narrow, VA);
    }
    return i;
  }
  IRUKA_INLINE void join_leaves() {}
};

}  // namespace iruka::reduction
