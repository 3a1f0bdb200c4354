// Adds vectors one after another, without blocks.
#pragma once

#include "ops/reduce/kernels/cpu/accumulator.h"

namespace iruka::reduction {

template <class Loads>
struct Plain : Loads {
  typename Loads::VA lanes = Loads::start_lanes();
  IRUKA_INLINE ptrdiff_t add_blocks(const char*, ptrdiff_t, ptrdiff_t) { return 0; }
  IRUKA_INLINE void join_leaves() {}
};

}  // namespace iruka::reduction
