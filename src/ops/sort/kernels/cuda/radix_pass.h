// One pass of a radix sort: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
// 2022.
#pragma once

#include "ops/sort/kernels/cuda/radix.h"

namespace iruka::sorting {

template <class Count>
struct PassArguments {
  const char *x, *previous;
  char *keys[2], *indices[2], *out;
  const Count* histogram;
  Count* status;
  unsigned* ticket;
  const unsigned* moving;
  ptrdiff_t n, tiles;
  int pass;
};

/// The lanes of the warp that have the same digit.
inline unsigned same_lanes(unsigned digit) {
  unsigned same = agreeing_lanes(digit, 1u);
#pragma unroll
  for (unsigned bit = 2; bit < 256; bit *= 2) same &= agreeing_lanes(digit, bit);
  return same;
}

/// The constants that follow from Sort, and the pass.
template <class Sort>
struct Pass : Sort {
  using typename Sort::Count;
  using typename Sort::Index;
  using typename Sort::Key;
  using typename Sort::X;
  using Arguments = PassArguments<Count>;
  static constexpr bool kHasIndex = Sort::kHasIndex;
  static constexpr int kPasses = Sort::kPasses, kThreads = Sort::kThreads, kItems = Sort::kItems;
  static constexpr int kWarps = kThreads / 32, kTile = kThreads * kItems;
  static constexpr Count kValue = (Count) ~(Count)0 >> 2, kOwn = kValue + 1, kAll = kOwn * 2;
  static constexpr int kCountedBytes = kWarps * kDigits * (int)sizeof(unsigned);
  static constexpr int kExchanged = kTile * (int)(sizeof(Key) + (kHasIndex ? sizeof(Index) : 0));

  /// The number of keys with the thread's digit in earlier tiles: the sum of the counts that those publish, back to the
  /// first that has published its own sum. Tiles are numbered by tickets in the order of their start, so none waits for
  /// a tile that has not started.
  static inline Count look_back(const Arguments& a, ptrdiff_t row, ptrdiff_t tile, int digit, Count own) {
    volatile Count* const status = a.status + (row * a.tiles + tile) * kDigits + digit;
    if (tile == 0) {
      const Count before = a.histogram[(row * kPasses + a.pass) * kDigits + digit];
      *status = (before + own) | kAll;
      return before;
    }
    *status = own | kOwn;
    Count before = 0;
#pragma unroll 1
    for (ptrdiff_t back = 1;;) {
      const Count seen = status[-back * kDigits];
      if (seen == 0) continue;
      before += seen & kValue;
      if (seen & kAll) break;
      ++back;
    }
    *status = (before + own) | kAll;
    return before;
  }

  /// All loads are issued before the first one is used. `place` is the thread's first place in the tile.
  static inline void load_elements(const Arguments& a, ptrdiff_t base, ptrdiff_t first, int place, int count, Key* keys,
                                   Index* indices) {
    const X* const x = (const X*)a.x + base;
    const long long* const previous = (const long long*)a.previous + base + first;
    X found[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int at = place + 32 * k;
      if constexpr (kHasIndex) {
        indices[k] = (Index)(first + at);
        if (a.previous && at < count) indices[k] = (Index)previous[at];
      }
    }
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int at = place + 32 * k;
      found[k] = X{};
      if (at < count) found[k] = x[kHasIndex ? (ptrdiff_t)indices[k] : first + at];
    }
#pragma unroll
    for (int k = 0; k < kItems; ++k)
      if (place + 32 * k < count) keys[k] = Sort::key_of(found[k]);
  }

  static inline void load_keys(const Key* from, const Index* from_index, int place, int count, Key* keys,
                               Index* indices) {
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int at = place + 32 * k;
      if (at >= count) continue;
      keys[k] = from[at];
      if constexpr (kHasIndex) indices[k] = from_index[at];
    }
  }

  template <bool kIsLast>
  static inline void store(char* keys, char* indices, ptrdiff_t to, Key key, Index index) {
    if constexpr (!kIsLast) ((Key*)keys)[to] = key;
    if constexpr (kIsLast && !kHasIndex) ((X*)keys)[to] = Sort::element_of(key);
    if constexpr (kHasIndex) {
      if constexpr (kIsLast)
        ((long long*)indices)[to] = (long long)index;
      else
        ((Index*)indices)[to] = index;
    }
  }

  template <bool kIsLast>
  static inline void store_all(const Key* sorted, const Index* sorted_indices, const ptrdiff_t* bases, int count,
                               int shift, char* keys, char* indices) {
    const int thread = threadIdx.x;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int at = k * kThreads + thread;
      if (at >= count) break;
      const Key key = sorted[at];
      Index index = 0;
      if constexpr (kHasIndex) index = sorted_indices[at];
      store<kIsLast>(keys, indices, bases[(int)(key >> shift & 255)] + at, key, index);
    }
  }

  static IRUKA_INLINE void run(const Arguments& a) {
    __shared__ uint4 memory[((kCountedBytes > kExchanged ? kCountedBytes : kExchanged) + 15) / 16];
    __shared__ ptrdiff_t bases[kDigits];
    __shared__ Count warp_sums[kWarps];
    __shared__ unsigned shared_ticket;
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, shift = 8 * a.pass;
    unsigned* const counters = (unsigned*)memory + warp * kDigits;  // the warp's number of keys with each digit
    if (thread == 0) shared_ticket = atomicAdd(a.ticket, 1u);
#pragma unroll 1
    for (int k = thread; k < kWarps * kDigits; k += kThreads) ((unsigned*)memory)[k] = 0;
    unsigned moving = a.moving[0];  // loaded while the ticket is
    __syncthreads();
    const ptrdiff_t row = shared_ticket / (unsigned)a.tiles, tile = shared_ticket - row * a.tiles, first = tile * kTile;
    if (row > 0) moving = a.moving[row];
    if (!(moving >> a.pass & 1)) return;
    const unsigned after = moving >> a.pass >> 1;
    const bool is_first = !(moving & ((1u << a.pass) - 1));
    const bool is_turned = __popc(after) & 1;
    const int count = (int)min((ptrdiff_t)kTile, a.n - first);
    Key keys[kItems];
    Index indices[kItems];
    unsigned ranks[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) keys[k] = (Key) ~(Key)0, indices[k] = 0;  // padding of the last tile sorts last
    const int place = warp * kItems * 32 + lane;
    if (is_first) {
      load_elements(a, row * a.n, first, place, count, keys, indices);
    } else {
      const ptrdiff_t begin = row * a.n + first;
      load_keys((const Key*)(is_turned ? a.keys[0] : a.keys[1]) + begin,
                (const Index*)(is_turned ? a.indices[0] : a.indices[1]) + begin, place, count, keys, indices);
    }
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const unsigned digit = (unsigned)(keys[k] >> shift & 255);
      const unsigned same = same_lanes(digit), before = ((volatile unsigned*)counters)[digit];
      __syncwarp();
      ranks[k] = before + __popc(same & ((1u << lane) - 1));
      if (same >> lane == 1) ((volatile unsigned*)counters)[digit] = before + __popc(same);
      __syncwarp();
    }
    __syncthreads();
    unsigned total = 0;
    if (thread < kDigits) {
#pragma unroll
      for (int w = 0; w < kWarps; ++w) total += ((volatile unsigned*)memory)[w * kDigits + thread];
    }
    const unsigned start = (unsigned)before_thread<kWarps>((Count)total, warp_sums, thread);
    if (thread < kDigits) {
      unsigned next = start;  // replaces counts by where the warp's keys of the digit begin
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        volatile unsigned* const counter = (unsigned*)memory + w * kDigits + thread;
        const unsigned own = *counter;
        *counter = next;
        next += own;
      }
      const unsigned filling = thread == kDigits - 1 ? kTile - count : 0;
      bases[thread] = row * a.n + (ptrdiff_t)look_back(a, row, tile, thread, total - filling) - start;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kItems; ++k) ranks[k] += counters[(int)(keys[k] >> shift & 255)];
    __syncthreads();
    Key* const sorted = (Key*)memory;
    Index* const sorted_indices = (Index*)(sorted + kTile);
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      sorted[ranks[k]] = keys[k];
      if constexpr (kHasIndex) sorted_indices[ranks[k]] = indices[k];
    }
    __syncthreads();
    if (after)
      store_all<false>(sorted, sorted_indices, bases, count, shift, is_turned ? a.keys[1] : a.keys[0],
                       is_turned ? a.indices[1] : a.indices[0]);
    else
      store_all<true>(sorted, sorted_indices, bases, count, shift, a.out, a.out);
  }
};

template <class Sort>
IRUKA_INLINE void sort_pass(const PassArguments<typename Sort::Count>& a, ptrdiff_t, ptrdiff_t) {
  Pass<Sort>::run(a);
}

}  // namespace iruka::sorting
