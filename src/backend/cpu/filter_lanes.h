// The loops of filters. A source file for each instruction set includes this one, within a namespace of its own; so it
// uses no function of the standard library. Clang's vectors serve all instruction sets.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/cpu/filter_job.h"

namespace iruka::cpu_backend::IRUKA_FILTER_TARGET {
namespace {

#define IRUKA_FILTER_INLINE inline __attribute__((always_inline))

#if defined(__AVX512BW__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

template <class T, int kCount = kBytes / int{sizeof(T)}> struct Lanes {
  static constexpr int kSize = kCount;
  using Vector __attribute__((vector_size(kCount * sizeof(T)))) = T;
  using Unaligned __attribute__((vector_size(kCount * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
  static IRUKA_FILTER_INLINE Vector load(const T* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static IRUKA_FILTER_INLINE void store(Vector v, T* to) { *reinterpret_cast<Unaligned*>(to) = v; }
  static IRUKA_FILTER_INLINE Vector all(T value) { return value - Vector{}; }
};

using Floats = Lanes<float>;
using Integers = Lanes<int32_t>;

template <class V> IRUKA_FILTER_INLINE V lesser(V a, V b) { return b < a ? b : a; }
template <class V> IRUKA_FILTER_INLINE V larger(V a, V b) { return a < b ? b : a; }

/// Stores make(x) at `result` + x for x = 0, kSize, ...; of the last vector only what belongs to the row. kAtOnce
/// vectors are made before they are stored, so that they share what stores might change, such as pointers to rows.
template <class L, int kAtOnce = 1, class T, class Make>
IRUKA_FILTER_INLINE void fill_row(int64_t elements, T* result, Make&& make) {
  int64_t x = 0;
  if constexpr (kAtOnce > 1) {
    for (; x + kAtOnce * L::kSize <= elements; x += kAtOnce * L::kSize) {
      typename L::Vector made[kAtOnce];
#pragma clang loop unroll(full)
      for (int k = 0; k < kAtOnce; ++k) made[k] = make(x + k * L::kSize);
#pragma clang loop unroll(full)
      for (int k = 0; k < kAtOnce; ++k) L::store(made[k], result + x + k * L::kSize);
    }
  }
  for (; x + L::kSize <= elements; x += L::kSize) L::store(make(x), result + x);
  if (x == elements) return;
  const typename L::Vector last = make(x);
  __builtin_memcpy(result + x, &last, static_cast<size_t>(elements - x) * sizeof(T));
}

#include "backend/cpu/filter_bilateral.h"
#include "backend/cpu/filter_distances.h"
#include "backend/cpu/filter_histograms.h"
#include "backend/cpu/filter_ranks.h"
#include "backend/cpu/filter_sums.h"

template <class T> constexpr RankLoops<T> rank_loops{extreme<T, false>,    extreme<T, true>, sort_columns<T>,
                                                     median_of_columns<T>, median<T>,        subtract<T>};
template <class T, class S> constexpr BoxLoops<T, S> box_loops{add_rows<T, S>, slide<T, S>, across<T, S>};

}  // namespace

// NOLINTBEGIN(misc-definitions-in-headers): one source file of each namespace includes this one
const FilterLoops filter_loops{integer_rows,
                               integer_columns,
                               fixed_columns,
                               int16_to_uint8,
                               int16_to_float,
                               float_to_int16,
                               rank_loops<uint8_t>,
                               rank_loops<uint16_t>,
                               rank_loops<float>,
                               box_loops<uint8_t, uint16_t>,
                               box_loops<uint8_t, uint32_t>,
                               box_loops<uint16_t, uint32_t>,
                               count_row,
                               median_by_histograms,
                               bilateral,
                               settle,
                               square_roots};
// NOLINTEND(misc-definitions-in-headers)

}  // namespace iruka::cpu_backend::IRUKA_FILTER_TARGET
