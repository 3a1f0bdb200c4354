// The accumulators of kWidth neighbouring columns. A pass adds some rows p[0], p[1]..., so that each accumulator is
// loaded and stored once a pass.
#pragma once

namespace iruka::reduction {

template <class Loads, ptrdiff_t width>
struct SumStrip : Loads {
  using typename Loads::A;
  using typename Loads::VA;
  static constexpr ptrdiff_t W = Loads::W, kWidth = width;
  static constexpr int kPass = 8;
  static constexpr bool kHasPivots = false;
  alignas(64) A sums[kWidth];

  /// The first `given` of `columns` columns have an element at p.
  IRUKA_INLINE void start_columns(const char*, ptrdiff_t, ptrdiff_t columns, ptrdiff_t) {
    const VA none = Loads::start_lanes();
    for (ptrdiff_t j = 0; j < columns; j += W) __builtin_memcpy(sums + j, &none, sizeof(none));
  }
  IRUKA_INLINE void add_counted(const char* const* p, int count, ptrdiff_t columns, ptrdiff_t stride) {
    ptrdiff_t j = 0;
    for (; j <= columns - Loads::kReach; j += W) {
      VA v;
      __builtin_memcpy(&v, sums + j, sizeof(v));
      if constexpr (requires { Loads::kAddsInBlocks; }) {
        // As in NarrowBlocks, the rows of a pass are added in float32.
        auto block = Loads::prepare(Loads::load_computed(p[0] + j * stride, stride));
        for (int k = 1; k < count; ++k) block = block + Loads::prepare(Loads::load_computed(p[k] + j * stride, stride));
        v = Loads::combine_lanes(v, Loads::cast(block));
      } else {
        for (int k = 0; k < count; ++k) v = Loads::combine_lanes(v, Loads::load(p[k] + j * stride, stride));
      }
      __builtin_memcpy(sums + j, &v, sizeof(v));
    }
    for (; j < columns; ++j)
      for (int k = 0; k < count; ++k) sums[j] = Loads::combine(sums[j], Loads::map(Loads::element(p[k], j, stride)));
  }
  IRUKA_INLINE void add_rows(const char* const* p, const ptrdiff_t*, int count, ptrdiff_t, ptrdiff_t columns,
                             ptrdiff_t stride) {
    if (count == kPass) return add_counted(p, kPass, columns, stride);
    add_counted(p, count, columns, stride);
  }
  /// Accumulators repeat with the period `columns`; adds the others to the first ones.
  IRUKA_INLINE void fold_periods(ptrdiff_t columns, ptrdiff_t period, ptrdiff_t) {
    for (ptrdiff_t k = columns; k < period; k += columns)
      for (ptrdiff_t j = 0; j < columns; ++j) sums[j] = Loads::combine(sums[j], sums[k + j]);
  }
  template <class Arguments, class Rows>
  IRUKA_INLINE A partial(ptrdiff_t j, const Arguments&, const Rows&) const {
    return sums[j];
  }
};

}  // namespace iruka::reduction
