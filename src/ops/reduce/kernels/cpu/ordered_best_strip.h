// argmin for rows in the order of their index: the first of equal values wins. Values and rows are two arrays, so that
// both are loaded as vectors.
#pragma once

namespace iruka::reduction {

template <class Loads, ptrdiff_t width>
struct OrderedBestStrip : Loads {
  using typename Loads::C;
  using typename Loads::Partial;
  using typename Loads::VC;
  static constexpr ptrdiff_t W = Loads::W, kWidth = width;
  static constexpr int kPass = 8;
  static constexpr bool kHasPivots = false;
  typedef int VI __attribute__((ext_vector_type(W)));
  alignas(64) C values[kWidth];
  alignas(64) int places[kWidth];

  IRUKA_INLINE void start_columns(const char*, ptrdiff_t, ptrdiff_t columns, ptrdiff_t) {
    for (ptrdiff_t j = 0; j < columns; ++j) values[j] = Loads::start(), places[j] = 0;
  }
  IRUKA_INLINE void add_rows(const char* const* p, const ptrdiff_t*, int count, ptrdiff_t seen, ptrdiff_t columns,
                             ptrdiff_t stride) {
    const int row = int(seen);
    ptrdiff_t j = 0;
    for (; j <= columns - Loads::kReach; j += W) {
      VC best;
      VI at;
      __builtin_memcpy(&best, values + j, sizeof(best));
      __builtin_memcpy(&at, places + j, sizeof(at));
      for (int k = 0; k < count; ++k) {
        const VC value = Loads::load_computed(p[k] + j * stride, stride);
        const auto takes = Loads::beats(value, best);
        best = takes ? value : best;
        at = __builtin_convertvector(takes, VI) ? (VI)(row + k) : at;
      }
      __builtin_memcpy(values + j, &best, sizeof(best));
      __builtin_memcpy(places + j, &at, sizeof(at));
    }
    for (; j < columns; ++j)
      for (int k = 0; k < count; ++k) {
        const C value = Loads::element(p[k], j, stride);
        if (Loads::beats(value, values[j])) values[j] = value, places[j] = row + k;
      }
  }
  template <class Arguments, class Rows>
  IRUKA_INLINE Partial partial(ptrdiff_t j, const Arguments& a, const Rows& rows) const {
    return {values[j], (long long)(rows.first + places[j]) * a.reduced.step[0]};
  }
};

}  // namespace iruka::reduction
