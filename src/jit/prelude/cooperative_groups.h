// Groups of threads under CUDA's names, for kernels over blocks that include <cooperative_groups.h>: blocks, tiles of a
// warp, the active threads of a warp, and the grid. Everything else of CUDA's header needs CUDA's own.
#pragma once

#include "prelude.h"

#if !defined(__CUDACC_RTC__) && !defined(IRUKA_BLOCKS)
#error "groups of threads are for RawKernel and RawModule: on the CPU other kernels have no blocks of threads"
#endif

namespace iruka {

/// The thread's number in its block.
IRUKA_INLINE unsigned thread_number() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
IRUKA_INLINE unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

#ifdef __CUDACC_RTC__
/// Each block adds to the counter, so that its highest bit changes when all have.
IRUKA_INLINE void wait_for_grid() {
  unsigned* counter = grid_counter();
  assert(counter != nullptr && "this_grid().sync() needs a cooperative launch: enable_cooperative_groups=True");
  if (!counter) return;
  __syncthreads();
  if (thread_number() == 0) {
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    const bool is_first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
    __threadfence();
    const unsigned before = atomicAdd(counter, is_first ? 0x80000000u - (blocks - 1) : 1u);
    while (((before ^ *(volatile unsigned*)counter) & 0x80000000u) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
IRUKA_INLINE bool is_cooperative() { return grid_counter() != nullptr; }
#else
IRUKA_INLINE void wait_for_grid() { iruka_grid_barrier(); }
IRUKA_INLINE bool is_cooperative() { return true; }  // a kernel that waits for the grid has no other launches
#endif

}  // namespace iruka

namespace cooperative_groups {

/// The threads of a block.
class thread_block {
 public:
  IRUKA_INLINE static void sync() { __syncthreads(); }
  IRUKA_INLINE static unsigned size() { return iruka::block_threads(); }
  IRUKA_INLINE static unsigned num_threads() { return iruka::block_threads(); }
  IRUKA_INLINE static unsigned thread_rank() { return iruka::thread_number(); }
  IRUKA_INLINE static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  IRUKA_INLINE static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  IRUKA_INLINE static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  IRUKA_INLINE static dim3 dim_threads() { return group_dim(); }
};

/// All threads of a cooperative launch.
class grid_group {
 public:
  IRUKA_INLINE static void sync() { iruka::wait_for_grid(); }
  IRUKA_INLINE static bool is_valid() { return iruka::is_cooperative(); }
  IRUKA_INLINE static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  IRUKA_INLINE static dim3 dim_blocks() { return group_dim(); }
  IRUKA_INLINE static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  IRUKA_INLINE static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  IRUKA_INLINE static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  IRUKA_INLINE static unsigned long long size() { return num_blocks() * iruka::block_threads(); }
  IRUKA_INLINE static unsigned long long num_threads() { return size(); }
  IRUKA_INLINE static unsigned long long thread_rank() {
    return block_rank() * iruka::block_threads() + iruka::thread_number();
  }
};

/// Neighbouring threads of a warp.
template <unsigned threads, class Parent = thread_block> class thread_block_tile {
  static_assert(threads >= 1 && threads <= 32 && (threads & (threads - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

  IRUKA_INLINE static unsigned first() { return iruka::thread_number() & 31u & ~(threads - 1); }
  IRUKA_INLINE static unsigned mask() { return (0xffffffffu >> (32 - threads)) << first(); }

 public:
  thread_block_tile() = default;
  template <class Other> IRUKA_INLINE thread_block_tile(thread_block_tile<threads, Other>) {}
  IRUKA_INLINE static void sync() { __syncwarp(mask()); }
  IRUKA_INLINE static constexpr unsigned size() { return threads; }
  IRUKA_INLINE static constexpr unsigned num_threads() { return threads; }
  IRUKA_INLINE static unsigned thread_rank() { return iruka::thread_number() & (threads - 1); }
  IRUKA_INLINE static unsigned meta_group_rank() { return Parent::thread_rank() / threads; }
  IRUKA_INLINE static unsigned meta_group_size() { return (Parent::size() + threads - 1) / threads; }
  template <class T> IRUKA_INLINE T shfl(T value, int rank) const { return __shfl_sync(mask(), value, rank, threads); }
  template <class T> IRUKA_INLINE T shfl_up(T value, unsigned delta) const {
    return __shfl_up_sync(mask(), value, delta, threads);
  }
  template <class T> IRUKA_INLINE T shfl_down(T value, unsigned delta) const {
    return __shfl_down_sync(mask(), value, delta, threads);
  }
  template <class T> IRUKA_INLINE T shfl_xor(T value, unsigned lanes) const {
    return __shfl_xor_sync(mask(), value, (int)lanes, threads);
  }
  IRUKA_INLINE int any(int predicate) const { return ballot(predicate) != 0; }
  IRUKA_INLINE int all(int predicate) const { return ballot(!predicate) == 0; }
  IRUKA_INLINE unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> first(); }
  template <class T> IRUKA_INLINE unsigned match_any(T value) const {
    return __match_any_sync(mask(), value) >> first();
  }
  template <class T> IRUKA_INLINE unsigned match_all(T value, int& predicate) const {
    return __match_all_sync(mask(), value, &predicate) >> first();
  }
};

/// The threads of a warp that run the same statement.
class coalesced_group {
 public:
  IRUKA_INLINE explicit coalesced_group(unsigned mask) : mask_(mask) {}
  IRUKA_INLINE void sync() const { __syncwarp(mask_); }
  IRUKA_INLINE unsigned size() const { return (unsigned)__popc(mask_); }
  IRUKA_INLINE unsigned num_threads() const { return size(); }
  IRUKA_INLINE unsigned thread_rank() const { return (unsigned)__popc(mask_ & ((1u << lane()) - 1)); }
  template <class T> IRUKA_INLINE T shfl(T value, int rank) const {
    return __shfl_sync(mask_, value, (int)lane_of((unsigned)rank % size()), 32);
  }
  template <class T> IRUKA_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(mask_, value, (int)(rank < delta ? lane() : lane_of(rank - delta)), 32);
  }
  template <class T> IRUKA_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(mask_, value, (int)(rank + delta >= size() ? lane() : lane_of(rank + delta)), 32);
  }
  IRUKA_INLINE int any(int predicate) const { return __ballot_sync(mask_, predicate) != 0; }
  IRUKA_INLINE int all(int predicate) const { return __ballot_sync(mask_, !predicate) == 0; }
  IRUKA_INLINE unsigned ballot(int predicate) const { return ranks_of(__ballot_sync(mask_, predicate)); }
  template <class T> IRUKA_INLINE unsigned match_any(T value) const { return ranks_of(__match_any_sync(mask_, value)); }

 private:
  IRUKA_INLINE static unsigned lane() { return iruka::thread_number() & 31u; }
  /// The lane of the thread of this rank.
  IRUKA_INLINE unsigned lane_of(unsigned rank) const {
    unsigned left = mask_;
    for (unsigned k = 0; k < 31; ++k) left = k < rank ? left & (left - 1) : left;
    return (unsigned)__ffs((int)left) - 1;
  }
  /// A bit for each rank, of one for each lane.
  IRUKA_INLINE unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0, rank = 0;
    for (unsigned k = 0; k < 32; ++k) {
      ranks |= (lanes >> k & 1u) << rank;
      rank += mask_ >> k & 1u;
    }
    return ranks;
  }

  unsigned mask_;
};

/// A block, or threads of one warp, as functions take them that serve both.
class thread_group {
 public:
  IRUKA_INLINE thread_group(thread_block) : size_(iruka::block_threads()), rank_(iruka::thread_number()) {}
  template <unsigned threads, class Parent>
  IRUKA_INLINE thread_group(thread_block_tile<threads, Parent> tile)
      : is_block_(false), size_(threads), rank_(tile.thread_rank()) {}
  IRUKA_INLINE thread_group(const coalesced_group& group)
      : is_block_(false), size_(group.size()), rank_(group.thread_rank()) {}
  IRUKA_INLINE thread_group(unsigned threads)
      : is_block_(false), size_(threads), rank_(iruka::thread_number() & (threads - 1)) {}
  IRUKA_INLINE void sync() const {
    if (is_block_)
      __syncthreads();
    else
      __syncwarp(__activemask());
  }
  IRUKA_INLINE unsigned size() const { return size_; }
  IRUKA_INLINE unsigned num_threads() const { return size_; }
  IRUKA_INLINE unsigned thread_rank() const { return rank_; }

 private:
  bool is_block_ = true;
  unsigned size_, rank_;
};

IRUKA_INLINE thread_block this_thread_block() { return {}; }
IRUKA_INLINE grid_group this_grid() { return {}; }
IRUKA_INLINE thread_block_tile<1> this_thread() { return {}; }
IRUKA_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
template <unsigned threads, class Parent> IRUKA_INLINE thread_block_tile<threads, Parent> tiled_partition(
    const Parent&) {
  return {};
}
IRUKA_INLINE thread_group tiled_partition(const thread_group&, unsigned threads) { return thread_group(threads); }
template <class Group> IRUKA_INLINE void sync(const Group& group) { group.sync(); }
template <class Group> IRUKA_INLINE auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> IRUKA_INLINE auto group_size(const Group& group) { return group.size(); }

}  // namespace cooperative_groups
