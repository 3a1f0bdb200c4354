// The loops of filters. A source file for each instruction set includes this one, within a namespace of its own; so it
// uses no function of the standard library. Clang's vectors serve all instruction sets.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <utility>

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

template <int kShift, class V, int... k>
IRUKA_FILTER_INLINE V shifted_by(V a, V b, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(a, b, (kShift + k)...);
}
/// The vector that begins kShift elements behind the beginning of `a`, which `b` follows.
template <class L, int kShift> IRUKA_FILTER_INLINE typename L::Vector shifted(typename L::Vector a,
                                                                              typename L::Vector b) {
  return shifted_by<kShift>(a, b, std::make_integer_sequence<int, L::kSize>());
}

/// Calls `use` with `step`, from 1 to kMostShifted, as a constant.
template <class Use> IRUKA_FILTER_INLINE void with_step(int64_t step, Use&& use) {
  switch (step) {
    case 1: return use.template operator()<1>();
    case 2: return use.template operator()<2>();
    case 3: return use.template operator()<3>();
    default: return use.template operator()<4>();
  }
}

/// Fills a row with what make(previous, current, next) makes of three neighbouring vectors, each of kParts that
/// columns(rows, x, vectors) gives. Of the vectors of `left` and `right`, the first kStep elements are what lies before
/// the row and behind it.
template <class L, int kParts, int kStep, class T, class Columns, class Make>
IRUKA_FILTER_INLINE void fill_from_neighbors(const T* const* rows, const T* const* left, const T* const* right,
                                             int64_t elements, T* result, Columns&& columns, Make&& make) {
  using V = typename L::Vector;
  constexpr int kSize = L::kSize;
  V previous[kParts], current[kParts], next[kParts];
  const auto for_parts = [](auto&& use) __attribute__((always_inline)) {
#pragma clang loop unroll(full)
    for (int k = 0; k < kParts; ++k) use(k);
  };
  const auto advance = [&](int k) __attribute__((always_inline)) { previous[k] = current[k], current[k] = next[k]; };
  columns(left, 0, next);
  for_parts([&](int k) __attribute__((always_inline)) { previous[k] = shifted<L, kStep>(next[k], next[k]); });
  columns(rows, 0, current);
  int64_t x = 0;
  for (; x + 2 * kSize <= elements; x += kSize) {
    columns(rows, x + kSize, next);
    L::store(make(previous, current, next), result + x);
    for_parts(advance);
  }
  // Up to two vectors, the pixel behind the row, and what does not count.
  T ends[kParts][3 * kSize], pixel[kSize];
  const int64_t rest = elements - x;
  for_parts([&](int k) __attribute__((always_inline)) { L::store(current[k], ends[k]); });
  if (rest > kSize) {
    columns(rows, x + kSize, next);
    for_parts([&](int k) __attribute__((always_inline)) { L::store(next[k], ends[k] + kSize); });
  }
  columns(right, 0, next);
  for_parts([&](int k) __attribute__((always_inline)) {
    L::store(next[k], pixel);
    __builtin_memcpy(ends[k] + rest, pixel, kStep * sizeof(T));
    current[k] = L::load(ends[k]);
    next[k] = L::load(ends[k] + kSize);
  });
  V made = make(previous, current, next);
  if (rest > kSize) {
    L::store(made, result + x);
    for_parts(advance);
    for_parts([&](int k) __attribute__((always_inline)) { next[k] = L::load(ends[k] + 2 * kSize); });
    made = make(previous, current, next);
    x += kSize;
  }
  __builtin_memcpy(result + x, &made, static_cast<size_t>(elements - x) * sizeof(T));
}

#include "backend/cpu/filter_bilateral.h"
#include "backend/cpu/filter_distances.h"
#include "backend/cpu/filter_histograms.h"
#include "backend/cpu/filter_ranks.h"
#include "backend/cpu/filter_sums.h"

template <class T> constexpr RankLoops<T> rank_loops{
    extreme<T, false>,         extreme<T, true>, extreme_neighbor<T, false>,
    extreme_neighbor<T, true>, sort_columns<T>,  median_of_columns<T>,
    median_of_nine<T>,         median<T>,        subtract<T>};
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
