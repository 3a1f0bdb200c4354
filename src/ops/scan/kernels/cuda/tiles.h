// Scans of a dense axis in tiles; a block scans one tile.
#pragma once

#include "ops/scan/kernels/cuda/look_back.h"
#include "ops/scan/kernels/cuda/operations.h"

namespace iruka::scan {

/// A warp's elements in shared memory. Words of 16 bytes are permuted, so that neither accesses in memory order nor a
/// thread's accesses to its kItems elements have bank conflicts.
template <class Types>
struct Segment {
  using In = typename Types::In;
  using Out = typename Types::Out;
  static constexpr int kItems = Types::kItems;
  static constexpr int kInWords = kItems * sizeof(In) / 16, kOutWords = kItems * sizeof(Out) / 16;
  static_assert(kInWords > 0 && kOutWords > 0);
  static constexpr int kWords = 32 * (kInWords > kOutWords ? kInWords : kOutWords);

  template <int kOwn>
  static inline int place(int word) {
    const int owner = word / kOwn;
    return owner * kOwn + (word % kOwn ^ owner / (8 / kOwn) % kOwn);
  }
  template <class T>
  static inline T* element(uint4* segment, int e) {
    constexpr int per_word = 16 / sizeof(T);
    return (T*)(segment + place<kItems * sizeof(T) / 16>(e / per_word)) + e % per_word;
  }
  static inline void fetch(const uint4* segment, int lane, In* value) {
#pragma unroll
    for (int w = 0; w < kInWords; ++w) {
      const uint4 word = segment[place<kInWords>(lane * kInWords + w)];
      memcpy(value + w * (16 / sizeof(In)), &word, 16);
    }
  }
  static inline In at(const char* x, ptrdiff_t stride, int e) {
    return Types::kDense ? ((const In*)x)[e] : *(const In*)(x + e * stride);
  }
  static inline void load(const char* x, ptrdiff_t stride, ptrdiff_t left, uint4* segment, int lane) {
    if (Types::kAlignedIn && left >= 32 * kItems) {
      uint4 word[kInWords];
#pragma unroll
      for (int w = 0; w < kInWords; ++w) word[w] = ((const uint4*)x)[w * 32 + lane];
#pragma unroll
      for (int w = 0; w < kInWords; ++w) segment[place<kInWords>(w * 32 + lane)] = word[w];
    } else if (left >= 32 * kItems) {
      constexpr int kAtOnce = kItems < 8 ? kItems : 8;
#pragma unroll 1
      for (int e = lane; e < 32 * kItems; e += 32 * kAtOnce) {
        In value[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) value[k] = at(x, stride, e + 32 * k);
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) *element<In>(segment, e + 32 * k) = value[k];
      }
    } else {
#pragma unroll 4
      for (int e = lane; e < 32 * kItems; e += 32) *element<In>(segment, e) = e < left ? at(x, stride, e) : In{};
    }
  }
  static inline void store(Out* out, ptrdiff_t left, uint4* segment, int lane) {
    if (Types::kAlignedOut && left >= 32 * kItems) {
#pragma unroll
      for (int w = 0; w < kOutWords; ++w)
        store_word((uint4*)out + w * 32 + lane, segment[place<kOutWords>(w * 32 + lane)]);
    } else {
#pragma unroll 4
      for (int e = lane; e < 32 * kItems; e += 32)
        if (e < left) out[e] = *element<Out>(segment, e);
    }
  }
};

template <class Types>
IRUKA_INLINE void scan_tiles(const TileArguments& a, ptrdiff_t begin, ptrdiff_t) {
  using A = typename Types::A;
  using In = typename Types::In;
  using Out = typename Types::Out;
  using Segment = scan::Segment<Types>;
  constexpr int kThreads = Types::kThreads, kItems = Types::kItems;
  __shared__ uint4 segments[kThreads / 32 * Segment::kWords];
  __shared__ uint4 memory[(sizeof(A) * (kThreads / 32 + 1) + 15) / 16];
  A* const totals = (A*)memory;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const ptrdiff_t number = begin + blockIdx.x, row = number < a.tiles ? 0 : number / a.tiles;
  const ptrdiff_t tile = number - row * a.tiles;
  const ptrdiff_t first = tile * (kThreads * kItems) + warp * (32 * kItems), left = a.n - first;
  uint4* const segment = segments + warp * Segment::kWords;
  const ptrdiff_t stride = Types::kDense ? sizeof(In) : a.x_stride;
  Segment::load(a.x + row * a.x_row + first * stride, stride, left, segment, lane);
  __syncwarp();
  In value[kItems];
  Segment::fetch(segment, lane, value);
  // Four independent sums are faster than one, and the other blocks wait for the sum that this block publishes.
  constexpr int kRun = kItems / 4;
  A sums[4];
#pragma unroll
  for (int k = 0; k < kRun; ++k)
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const A next = map<Types>(value[u * kRun + k]);
      sums[u] = k > 0 ? Types::combine(sums[u], next) : next;
    }
  const A sum = Types::combine(Types::combine(sums[0], sums[1]), Types::combine(sums[2], sums[3]));
  const A scanned = warp_scan<Types>(sum, lane), exclusive = shuffle_up(scanned, 1);
  if (lane == 31) totals[warp] = scanned;
  __syncthreads();
  A prefix = Types::start();
#pragma unroll
  for (int k = 0; k < kThreads / 32; ++k)
    if (k < warp) prefix = Types::combine(prefix, totals[k]);
  if constexpr (Types::kLooksBack) {
    A own = totals[0];
#pragma unroll
    for (int k = 1; k < kThreads / 32; ++k) own = Types::combine(own, totals[k]);
    const A tile_prefix = look_back<Types>(a, row, tile, own, lane, warp == 0);
    if (thread == 31) totals[kThreads / 32] = tile_prefix;
    __syncthreads();
    prefix = Types::combine(totals[kThreads / 32], prefix);
  }
  if (lane > 0) prefix = Types::combine(prefix, exclusive);
  Segment::fetch(segment, lane, value);  // again, so that the elements take no registers during look_back()
  __syncwarp();
#pragma unroll
  for (int w = 0; w < Segment::kOutWords; ++w) {
    constexpr int kPerWord = 16 / sizeof(Out);
    Out result[kPerWord];
#pragma unroll
    for (int k = 0; k < kPerWord; ++k)
      prefix = Types::combine(prefix, map<Types>(value[w * kPerWord + k])), result[k] = Types::finish(prefix);
    uint4 word;
    memcpy(&word, result, 16);
    segment[Segment::template place<Segment::kOutWords>(lane * Segment::kOutWords + w)] = word;
  }
  __syncwarp();
  Segment::store((Out*)(a.out + row * a.out_row) + first, left, segment, lane);
}

}  // namespace iruka::scan
