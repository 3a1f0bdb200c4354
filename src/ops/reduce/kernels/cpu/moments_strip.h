// The moments of kWidth neighbouring columns.
#pragma once

namespace iruka::reduction {

/// Each row updates the means (Welford, 1962).
template <class Loads, ptrdiff_t width>
struct MomentsStrip : Loads {
  using typename Loads::A;
  using typename Loads::Partial;
  using typename Loads::R;
  static constexpr ptrdiff_t W = Loads::W, kWidth = width;
  static constexpr int kPass = 8;
  static constexpr bool kHasPivots = true;
  alignas(64) A pivots[kWidth], means[kWidth];
  alignas(64) R squares[kWidth];

  IRUKA_INLINE void start_columns(const char* p, ptrdiff_t given, ptrdiff_t columns, ptrdiff_t stride) {
    for (ptrdiff_t j = 0; j < columns; ++j) pivots[j] = means[j] = Loads::start(), squares[j] = R(0);
    for (ptrdiff_t j = 0; j < given; ++j) pivots[j] = Loads::map(Loads::element(p, j, stride));
  }
  IRUKA_INLINE void add_rows(const char* const* p, const ptrdiff_t*, int count, ptrdiff_t seen, ptrdiff_t columns,
                             ptrdiff_t stride) {
    R share[kPass];
    for (int k = 0; k < count; ++k) share[k] = R(1) / R(seen + k + 1);
    ptrdiff_t j = 0;
    if constexpr (Loads::kHasVectors) {
      using VA = typename Loads::VA;
      for (; j <= columns - Loads::kReach; j += W) {
        VA pivot, mean, square;
        __builtin_memcpy(&pivot, pivots + j, sizeof(pivot));
        __builtin_memcpy(&mean, means + j, sizeof(mean));
        __builtin_memcpy(&square, squares + j, sizeof(square));
        for (int k = 0; k < count; ++k) {
          const VA x = Loads::load(p[k] + j * stride, stride) - pivot, d = x - mean;
          mean = mean + d * (VA)(share[k]);
          square = square + d * (x - mean);
        }
        __builtin_memcpy(means + j, &mean, sizeof(mean));
        __builtin_memcpy(squares + j, &square, sizeof(square));
      }
    }
    for (; j < columns; ++j) {
      A mean = means[j];
      R square = squares[j];
      for (int k = 0; k < count; ++k) {
        const A d = (Loads::map(Loads::element(p[k], j, stride)) - pivots[j]) - mean;
        mean = mean + d * share[k];
        square = square + Loads::square_of(d) * (R(1) - share[k]);
      }
      means[j] = mean;
      squares[j] = square;
    }
  }
  template <class Arguments, class Rows>
  IRUKA_INLINE Partial partial(ptrdiff_t j, const Arguments&, const Rows& rows) const {
    return {pivots[j], means[j], squares[j], double(rows.last - rows.first)};
  }
};

/// Columns of a period have seen different numbers of rows.
template <class Loads, ptrdiff_t width>
struct PeriodicMomentsStrip : MomentsStrip<Loads, width> {
  using typename Loads::Partial;
  Partial moments[width];

  IRUKA_INLINE void fold_periods(ptrdiff_t columns, ptrdiff_t period, ptrdiff_t all) {
    for (ptrdiff_t j = 0; j < period; ++j)
      moments[j] = Partial{this->pivots[j], this->means[j], this->squares[j], double((all - j + period - 1) / period)};
    for (ptrdiff_t k = columns; k < period; k += columns)
      for (ptrdiff_t j = 0; j < columns; ++j) moments[j] = Loads::join(moments[j], moments[k + j]);
  }
  template <class Arguments, class Rows>
  IRUKA_INLINE Partial partial(ptrdiff_t j, const Arguments&, const Rows&) const {
    return moments[j];
  }
};

}  // namespace iruka::reduction
