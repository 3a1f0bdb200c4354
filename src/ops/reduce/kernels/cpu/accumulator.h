// Reduces a row: Blocks adds whole blocks of vectors, Accumulator the other vectors and elements.
#pragma once

namespace iruka::reduction {

template <class Blocks>
struct Accumulator : Blocks {
  using typename Blocks::A;
  A rest = Blocks::start();
  IRUKA_INLINE void row(const char* p, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t, ptrdiff_t) {
    const ptrdiff_t last = n - Blocks::kReach;  // the last possible start of a vector
    ptrdiff_t i = this->add_blocks(p, last, stride);
    for (; i <= last; i += Blocks::W)
      this->lanes = Blocks::combine_lanes(this->lanes, Blocks::load(p + i * stride, stride));
    for (; i < n; ++i) rest = Blocks::combine(rest, Blocks::map(Blocks::element(p, i, stride)));
  }
  IRUKA_INLINE A result() {
    this->join_leaves();
    return Blocks::combine(Blocks::fold(this->lanes), rest);
  }
};

}  // namespace iruka::reduction
