// argmin for rows in any order: of equal values, the one with the lower index wins.
#pragma once

namespace iruka::reduction {

template <class Loads, ptrdiff_t width>
struct BestStrip : Loads {
  using typename Loads::C;
  using typename Loads::Partial;
  static constexpr ptrdiff_t kWidth = width;
  static constexpr int kPass = 1;
  static constexpr bool kHasPivots = false;
  C values[kWidth];
  long long indices[kWidth];

  IRUKA_INLINE void start_columns(const char*, ptrdiff_t, ptrdiff_t columns, ptrdiff_t) {
    for (ptrdiff_t j = 0; j < columns; ++j) values[j] = Loads::start(), indices[j] = Loads::start_partial().index;
  }
  IRUKA_INLINE void add_rows(const char* const* p, const ptrdiff_t* index, int, ptrdiff_t, ptrdiff_t columns,
                             ptrdiff_t stride) {
    for (ptrdiff_t j = 0; j < columns; ++j) {
      const C value = Loads::element(*p, j, stride);
      if (Loads::beats(value, values[j]) | (Loads::ties(value, values[j]) & (*index < indices[j])))
        values[j] = value, indices[j] = *index;
    }
  }
  template <class Arguments, class Rows>
  IRUKA_INLINE Partial partial(ptrdiff_t j, const Arguments&, const Rows&) const {
    return {values[j], indices[j]};
  }
};

}  // namespace iruka::reduction
