// argmin of a row: finds the best value of each block by vectors, then searches the block that has it.
#pragma once

namespace iruka::reduction {

template <class Loads>
struct BestAccumulator : Loads {
  using typename Loads::C;
  using typename Loads::Partial;
  static constexpr ptrdiff_t W = Loads::W;
  Partial best = Loads::start_partial();

  static IRUKA_INLINE C extreme(const char* p, ptrdiff_t n, ptrdiff_t stride) {
    C value = Loads::start();
    ptrdiff_t i = 0;
    if constexpr (Loads::kHasVectors) {
      typename Loads::VA v = Loads::start_lanes();
      for (; i <= n - Loads::kReach; i += W) v = Loads::combine_lanes(v, Loads::load(p + i * stride, stride));
      value = Loads::fold(v);
    }
    for (; i < n; ++i) value = Loads::combine(value, Loads::element(p, i, stride));
    return value;
  }
  /// Skips vectors without an element equal to `value`.
  static IRUKA_INLINE ptrdiff_t skip_others(const char* p, ptrdiff_t at, ptrdiff_t n, ptrdiff_t stride, C value) {
    if constexpr (Loads::kHasVectors) {
      using VC = typename Loads::VC;
      for (; at <= n - Loads::kReach; at += W) {
        const VC v = Loads::load_computed(p + at * stride, stride);
        if (__builtin_reduce_or((v == (VC)(value)) | ((v != v) & ((VC)(value) != (VC)(value))))) break;
      }
    }
    return at;
  }
  IRUKA_INLINE void row(const char* p, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t first, ptrdiff_t step) {
    constexpr ptrdiff_t kBlock = 1024;
    C value = Loads::element(p, 0, stride);
    ptrdiff_t at = 0;
    for (ptrdiff_t i = 0; i < n; i += kBlock) {
      const C least = extreme(p + i * stride, n - i < kBlock ? n - i : kBlock, stride);
      if (Loads::beats(least, value)) value = least, at = i;
    }
    at = skip_others(p, at, n, stride, value);
    while (!Loads::ties(Loads::element(p, at, stride), value)) ++at;
    best = Loads::join(best, Partial{value, first + at * step});
  }
  IRUKA_INLINE Partial result() { return best; }
};

}  // namespace iruka::reduction
