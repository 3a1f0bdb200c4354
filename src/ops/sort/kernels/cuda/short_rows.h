// Sorts short rows in shared memory; a block sorts as many as fit.
#pragma once

namespace iruka::sorting {

struct ShortRows {
  const void* x;
  const long long* previous;
  void* out;
  ptrdiff_t rows, n;
  int slots_per_row;
};

/// Batcher's bitonic sort of every row of slots. Equal keys are ordered by their places.
template <bool kHasIndex, class Key, class Index>
inline void exchange(Key* keys, Index* places, int low, int high, bool ascending) {
  const Key a = keys[low], b = keys[high];
  const bool is_after = a > b || (kHasIndex && a == b && places[low] > places[high]);
  if (is_after != ascending) return;
  keys[low] = b, keys[high] = a;
  if constexpr (kHasIndex) {
    const Index place = places[low];
    places[low] = places[high], places[high] = place;
  }
}

template <class Sort>
IRUKA_INLINE void sort_short_rows(const ShortRows& a, ptrdiff_t begin, ptrdiff_t) {
  using X = typename Sort::X;
  using Key = typename Sort::Key;
  using Index = typename Sort::Index;
  constexpr bool kHasIndex = Sort::kHasIndex;
  constexpr int kThreads = Sort::kThreads, kSlots = Sort::kSlots;
  const X* const x = (const X*)a.x;
  __shared__ Key keys[kSlots];
  __shared__ Index places[kHasIndex ? kSlots : 1];
  const int thread = threadIdx.x, slots = a.slots_per_row;
  const ptrdiff_t first_row = begin + (ptrdiff_t)blockIdx.x * (kSlots / slots);
#pragma unroll 1
  for (int slot = thread; slot < kSlots; slot += kThreads) {
    const ptrdiff_t row = first_row + slot / slots;
    const int place = slot % slots;
    const bool exists = row < a.rows && place < a.n;
    Key found = (Key) ~(Key)0;
    if (exists) {
      const ptrdiff_t from = kHasIndex && a.previous ? (ptrdiff_t)a.previous[row * a.n + place] : place;
      found = Sort::key_of(x[row * a.n + from]);
    }
    keys[slot] = found;
    if constexpr (kHasIndex) places[slot] = (Index)place;
  }
#pragma unroll 1
  for (int size = 2; size <= slots; size *= 2)
#pragma unroll 1
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
#pragma unroll
      for (int k = thread; k < kSlots / 2; k += kThreads) {
        const int low = 2 * k - (k & (stride - 1));
        exchange<kHasIndex>(keys, places, low, low + stride, (low & (slots - 1) & size) == 0);
      }
    }
  __syncthreads();
#pragma unroll 1
  for (int slot = thread; slot < kSlots; slot += kThreads) {
    const ptrdiff_t row = first_row + slot / slots;
    const int place = slot % slots;
    if (row >= a.rows || place >= a.n) continue;
    if constexpr (kHasIndex) {
      const ptrdiff_t from = (ptrdiff_t)places[slot];
      ((long long*)a.out)[row * a.n + place] = a.previous ? a.previous[row * a.n + from] : (long long)from;
    } else {
      ((X*)a.out)[row * a.n + place] = Sort::element_of(keys[slot]);
    }
  }
}

}  // namespace iruka::sorting
