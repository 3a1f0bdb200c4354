// var of a row: computes mean and squared distances of blocks that fit in the first-level cache, and joins them.
#pragma once

namespace iruka::reduction {

template <class Loads>
struct MomentsAccumulator : Loads {
  using typename Loads::A;
  using typename Loads::Partial;
  using typename Loads::R;
  using VA = typename Loads::VA;
  static constexpr ptrdiff_t W = Loads::W;
  Partial all = Loads::start_partial();

  static IRUKA_INLINE A distance(const char* p, ptrdiff_t i, ptrdiff_t stride, A pivot) {
    return Loads::map(Loads::element(p, i, stride)) - pivot;
  }
  static IRUKA_INLINE A sum(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot) {
    A value = Loads::start();
    ptrdiff_t i = 0;
    if constexpr (Loads::kHasVectors) {
      VA v = Loads::start_lanes();
      for (; i <= n - Loads::kReach; i += W) v = v + (Loads::load(p + i * stride, stride) - (VA)(pivot));
      value = Loads::fold(v);
    }
    for (; i < n; ++i) value = value + distance(p, i, stride, pivot);
    return value;
  }
  static IRUKA_INLINE R squares(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot, A mean) {
    R value = R(0);
    ptrdiff_t i = 0;
    if constexpr (Loads::kHasVectors) {
      VA v = Loads::start_lanes();
      for (; i <= n - Loads::kReach; i += W) {
        const VA d = (Loads::load(p + i * stride, stride) - (VA)(pivot)) - (VA)(mean);
        v = v + d * d;
      }
      value = Loads::fold(v);
    }
    for (; i < n; ++i) value = value + Loads::square_of(distance(p, i, stride, pivot) - mean);
    return value;
  }
  IRUKA_INLINE void row(const char* p, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t, ptrdiff_t) {
    const A pivot = Loads::map(Loads::element(p, 0, stride));
    constexpr ptrdiff_t kBlock = 1024;
    for (ptrdiff_t i = 0; i < n; i += kBlock) {
      const ptrdiff_t length = n - i < kBlock ? n - i : kBlock;
      const A mean = sum(p + i * stride, length, stride, pivot) / R(length);
      all =
          Loads::join(all, Partial{pivot, mean, squares(p + i * stride, length, stride, pivot, mean), double(length)});
    }
  }
  IRUKA_INLINE Partial result() { return all; }
};

}  // namespace iruka::reduction
