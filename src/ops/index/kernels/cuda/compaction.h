// Positions of nonzero bytes. A thread reads 16 bytes; a block adds counts in shared memory, with twice the distance at
// each step.
#pragma once

namespace iruka::compaction {

struct CompactionArguments {
  const unsigned char* mask;
  ptrdiff_t size, tiles;
  int64_t* counts;
  int64_t* out;
};

template <int kBytes>
struct Bytes {
  unsigned char at[kBytes];
};
template <int kBytes>
inline Bytes<kBytes> load(const CompactionArguments& a, ptrdiff_t first) {
  Bytes<kBytes> bytes;
  if (first + kBytes <= a.size && ((size_t)(a.mask + first) & 15) == 0) {
    const uint4 word = *(const uint4*)(a.mask + first);
    memcpy(&bytes, &word, kBytes);
  } else {
#pragma unroll
    for (int k = 0; k < kBytes; ++k) bytes.at[k] = first + k < a.size ? a.mask[first + k] : 0;
  }
  return bytes;
}
template <int kBytes>
inline int count(const Bytes<kBytes>& bytes) {
  int total = 0;
#pragma unroll
  for (int k = 0; k < kBytes; ++k) total += bytes.at[k] != 0;
  return total;
}
template <int kThreads, class T>
inline T sum_before(T own, T* cells, T& total) {
  const int thread = threadIdx.x;
  cells[thread] = own;
  __syncthreads();
#pragma unroll 1
  for (int reach = 1; reach < kThreads; reach *= 2) {
    const T other = thread >= reach ? cells[thread - reach] : T(0);
    __syncthreads();
    cells[thread] += other;
    __syncthreads();
  }
  total = cells[kThreads - 1];
  return cells[thread] - own;
}

/// Counts the nonzero bytes of each tile.
template <int kThreads, int kBytes>
IRUKA_INLINE void count_true(const CompactionArguments& a, ptrdiff_t, ptrdiff_t) {
  const int thread = threadIdx.x;
  const ptrdiff_t tile_begin = (ptrdiff_t)blockIdx.x * (kThreads * kBytes), first = tile_begin + thread * kBytes;
  __shared__ int cells[kThreads];
  int total;
  sum_before<kThreads>(count(load<kBytes>(a, first)), cells, total);
  if (thread == 0) a.counts[blockIdx.x] = total;
}

/// Replaces counts[k] by the sum of the counts before it; the last entry is the sum of all. One block runs; a thread
/// adds a run of counts.
template <int kThreads, int kBytes>
IRUKA_INLINE void scan_counts(const CompactionArguments& a, ptrdiff_t, ptrdiff_t) {
  const int thread = threadIdx.x;
  constexpr int kRun = 16;
  __shared__ int64_t cells[kThreads];
  int64_t before = 0;
  for (ptrdiff_t tile = 0; tile < a.tiles; tile += kThreads * kRun) {
    const ptrdiff_t begin = tile + thread * kRun, end = begin + kRun < a.tiles ? begin + kRun : a.tiles;
    int64_t own = 0, total;
    for (ptrdiff_t k = begin; k < end; ++k) own += a.counts[k];
    int64_t place = before + sum_before<kThreads>(own, cells, total);
    for (ptrdiff_t k = begin; k < end; ++k) {
      const int64_t count = a.counts[k];
      a.counts[k] = place;
      place += count;
    }
    before += total;
    __syncthreads();
  }
  if (thread == 0) a.counts[a.tiles] = before;
}

/// Positions are collected in shared memory first, so that neighbouring threads write neighbouring elements.
template <int kThreads, int kBytes>
IRUKA_INLINE void write_true(const CompactionArguments& a, ptrdiff_t, ptrdiff_t) {
  const int thread = threadIdx.x;
  const ptrdiff_t tile_begin = (ptrdiff_t)blockIdx.x * (kThreads * kBytes), first = tile_begin + thread * kBytes;
  __shared__ int cells[kThreads];
  __shared__ unsigned short found[kThreads * kBytes];
  const Bytes<kBytes> bytes = load<kBytes>(a, first);
  int total;
  int place = sum_before<kThreads>(count(bytes), cells, total);
#pragma unroll
  for (int k = 0; k < kBytes; ++k)
    if (bytes.at[k] != 0) found[place++] = (unsigned short)(thread * kBytes + k);
  __syncthreads();
  int64_t* out = a.out + a.counts[blockIdx.x];
  for (int k = thread; k < total; k += kThreads) out[k] = tile_begin + found[k];
}

}  // namespace iruka::compaction
