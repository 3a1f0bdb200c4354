// A pool that keeps released blocks for reuse, over any source of raw memory.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fork.h"
#include "iruka/memory.h"

namespace iruka {

/// Where a pool gets its blocks.
class RawMemory {
 public:
  virtual ~RawMemory() = default;
  /// A block aligned to 64 bytes, or null when there is none. `bytes` is a multiple of 64.
  virtual void* allocate(size_t bytes) noexcept = 0;
  virtual void release(void* memory, size_t bytes) noexcept = 0;
  /// Whether the CPU can access the blocks.
  virtual bool on_host() const { return true; }
};

/// The process's own memory: from malloc, and large blocks from the kernel in transparent huge pages.
std::unique_ptr<RawMemory> host_memory();

/// A lock for a few instructions. Waiting threads spin, then yield.
class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) wait();
  }
  bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  void wait();
  std::atomic<bool> locked_{false};
};
using PoolLock = ForkSafe<SpinLock>;

/// Sizes that blocks have: multiples of 64 up to 512 bytes, then eight to a power of two, so at most 1/8 is wasted.
struct SizeClass {
  static constexpr size_t kLargestRequest = size_t{1} << 62;
  static constexpr int kCount = 8 + (62 - 9) * 8;

  /// The smallest class that holds `bytes`, which is from 1 to kLargestRequest.
  static constexpr SizeClass of(size_t bytes) {
    const size_t last = bytes - 1;
    if (last < 512) return {static_cast<int>(last / 64), (last / 64 + 1) * 64};
    const int shift = static_cast<int>(std::bit_width(last)) - 4;
    const int eighth = static_cast<int>(last >> shift) & 7;
    return {8 + (shift - 6) * 8 + eighth, static_cast<size_t>(8 + eighth + 1) << shift};
  }
  /// Block size of the class `index`.
  static constexpr size_t bytes_of(int index) {
    if (index < 8) return static_cast<size_t>(index + 1) * 64;
    return static_cast<size_t>(8 + (index & 7) + 1) << (index / 8 - 1 + 6);
  }

  int index;
  size_t bytes;
};

/// Thread-safe; a child of fork() may go on using it. Statistics and the limit count whole blocks. Memory beyond one
/// and a half times the most ever used is released to the system, least recently used sizes first.
class MemoryPool {
 public:
  explicit MemoryPool(std::string name = "cpu", std::unique_ptr<RawMemory> source = host_memory());
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// 64-byte aligned; 0 bytes give a valid block. Raises OutOfMemoryError.
  void* allocate(size_t bytes);
  /// Returns a block of allocate(bytes) to the pool.
  void release(void* memory, size_t bytes) noexcept;

  PoolStatistics statistics() const;
  /// 0: no limit. Live arrays are not affected; held memory above the limit is released.
  void set_limit(size_t bytes);
  void free_held();

 private:
  struct HeldBlocks {
    std::vector<void*> blocks;
    size_t last_use = 0;
  };
  struct Block {
    void* memory;
    size_t bytes;
  };

  void* take_held(const SizeClass& size_class);
  void* take_larger(const SizeClass& size_class);
  void* allocate_fresh(size_t requested, size_t bytes);
  int class_of_release(void* memory, size_t bytes);
  void count_use(size_t bytes);
  std::vector<Block> claim(size_t requested, size_t bytes);
  std::vector<Block> take_excess(size_t keep_bytes);
  void release_to_source(std::span<const Block> blocks) noexcept;
  [[noreturn]] void raise_out_of_memory(size_t requested, const PoolStatistics& now) const;
  void poison(void* memory, size_t bytes) const;
  void unpoison(void* memory, size_t bytes) const;

  const std::string name_;
  const std::unique_ptr<RawMemory> source_;
  const bool on_host_;
  mutable PoolLock lock_;
  PoolStatistics statistics_;
  std::array<HeldBlocks, SizeClass::kCount> held_;
  /// Live blocks that are larger than their request's class, by address.
  std::unordered_map<void*, int> lent_larger_;
};

}  // namespace iruka
