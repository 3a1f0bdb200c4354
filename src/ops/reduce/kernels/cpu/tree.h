// Pairwise sums. A leaf is the sum of sixteen vectors; partial sums are kept as in a binary counter: level l holds the
// sum of 2^l leaves. The error grows with the logarithm of the length.
#pragma once

#include "ops/reduce/kernels/cpu/accumulator.h"

namespace iruka::reduction {

template <class Loads>
struct Tree : Loads {
  using typename Loads::VA;
  static constexpr ptrdiff_t W = Loads::W;
  VA lanes = Loads::start_lanes();
  ptrdiff_t leaves = 0;
  VA levels[48];
  __attribute__((noinline)) void add_leaf(const VA* leaf) {
    VA v = *leaf;
    int level = 0;
    for (ptrdiff_t carry = leaves; carry & 1; carry >>= 1) v = Loads::combine_lanes(levels[level++], v);
    levels[level] = v;
    ++leaves;
  }
  IRUKA_INLINE ptrdiff_t add_blocks(const char* p, ptrdiff_t last, ptrdiff_t stride) {
    ptrdiff_t i = 0;
    for (; i + 15 * W <= last; i += 16 * W) {
      VA v = Loads::start_lanes();
#pragma clang loop unroll(disable)
      for (int k = 0; k < 16; ++k) v = Loads::combine_lanes(v, Loads::load(p + (i + k * W) * stride, stride));
      add_leaf(&v);
    }
    return i;
  }
  IRUKA_INLINE void join_leaves() {
    int level = 0;
    for (ptrdiff_t left = leaves; left; left >>= 1, ++level)
      if (left & 1) lanes = Loads::combine_lanes(lanes, levels[level]);
  }
};

}  // namespace iruka::reduction
