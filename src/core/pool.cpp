// The memory pool: lists of held blocks by size class, under one short lock.
#include "core/pool.h"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "iruka/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define IRUKA_POISON_RELEASED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IRUKA_POISON_RELEASED 1
#endif
#endif
#ifdef IRUKA_POISON_RELEASED
#include <sanitizer/asan_interface.h>
#endif

namespace iruka {
namespace {

using Guard = std::lock_guard<PoolLock>;

// Requests of at least this size may get a block of the next two classes if their own class has none.
constexpr size_t kLargeBlock = size_t{1} << 20;
// Held memory below this is never trimmed.
constexpr size_t kAlwaysHold = size_t{64} << 20;

static_assert(SizeClass::of(1).bytes == 64 && SizeClass::of(512).index == 7 && SizeClass::of(513).bytes == 576);
static_assert(SizeClass::of(1024).bytes == 1024 && SizeClass::bytes_of(SizeClass::of(1025).index) == 1152);
static_assert(SizeClass::of(SizeClass::kLargestRequest).index == SizeClass::kCount - 1);

}  // namespace

void SpinLock::wait() {
  for (int spins = 0; locked_.load(std::memory_order_relaxed); ++spins) {
    if (spins < 64) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      sched_yield();
    }
  }
}

MemoryPool::MemoryPool(std::string name, std::unique_ptr<RawMemory> source)
    : name_(std::move(name)), source_(std::move(source)), on_host_(source_->on_host()) {}

MemoryPool::~MemoryPool() {
  free_held();
  lock_.leave();
}

void* MemoryPool::allocate(size_t bytes) {
  if (bytes > SizeClass::kLargestRequest) raise_out_of_memory(bytes, statistics());
  const SizeClass size_class = SizeClass::of(std::max<size_t>(bytes, 1));
  void* memory = nullptr;
  {
    Guard guard(lock_);
    ++statistics_.allocations;
    memory = take_held(size_class);
  }
  if (!memory) {
    memory = allocate_fresh(bytes, size_class.bytes);
    poison(memory, size_class.bytes);
  }
  unpoison(memory, bytes);
  return memory;
}

void MemoryPool::release(void* memory, size_t bytes) noexcept {
  if (!memory) return;
  Block block{memory, 0};
  {
    Guard guard(lock_);
    const int index = class_of_release(memory, bytes);
    block.bytes = SizeClass::bytes_of(index);
    poison(memory, block.bytes);
    statistics_.used_bytes -= block.bytes;
    const size_t total = statistics_.used_bytes + statistics_.held_bytes + block.bytes;
    if (statistics_.limit_bytes == 0 || total <= statistics_.limit_bytes) {
      try {
        held_[index].blocks.push_back(memory);
        held_[index].last_use = statistics_.allocations;
        statistics_.held_bytes += block.bytes;
        return;
      } catch (const std::bad_alloc&) {
        // There is no memory to record the block, so it is returned to the system below.
      }
    }
  }
  release_to_source({&block, 1});
}

/// Under the lock: a held block, accounted as used, or null.
void* MemoryPool::take_held(const SizeClass& size_class) {
  HeldBlocks& held = held_[size_class.index];
  if (held.blocks.empty()) return size_class.bytes >= kLargeBlock ? take_larger(size_class) : nullptr;
  void* memory = held.blocks.back();
  held.blocks.pop_back();
  held.last_use = statistics_.allocations;
  statistics_.held_bytes -= size_class.bytes;
  ++statistics_.reuses;
  count_use(size_class.bytes);
  return memory;
}

/// Under the lock: a block of one of the next two classes (at most a quarter larger), remembered for its release.
void* MemoryPool::take_larger(const SizeClass& size_class) {
  const int last = std::min(size_class.index + 2, SizeClass::kCount - 1);
  for (int index = size_class.index + 1; index <= last; ++index) {
    if (held_[index].blocks.empty()) continue;
    lent_larger_.emplace(held_[index].blocks.back(), index);
    return take_held({index, SizeClass::bytes_of(index)});
  }
  return nullptr;
}

int MemoryPool::class_of_release(void* memory, size_t bytes) {
  if (bytes >= kLargeBlock / 2 && !lent_larger_.empty()) {
    if (const auto found = lent_larger_.find(memory); found != lent_larger_.end()) {
      const int index = found->second;
      lent_larger_.erase(found);
      return index;
    }
  }
  return SizeClass::of(std::max<size_t>(bytes, 1)).index;
}

void MemoryPool::count_use(size_t bytes) {
  statistics_.used_bytes += bytes;
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.used_bytes);
}

void* MemoryPool::allocate_fresh(size_t requested, size_t bytes) {
  release_to_source(claim(requested, bytes));
  void* memory = source_->allocate(bytes);
  if (!memory) {
    free_held();
    memory = source_->allocate(bytes);
  }
  PoolStatistics now;
  {
    Guard guard(lock_);
    if (memory) {
      count_use(0);
      return memory;
    }
    statistics_.used_bytes -= bytes;
    now = statistics_;
  }
  raise_out_of_memory(requested, now);
}

/// Counts a block before the request to the source, so that all threads together keep within the limit. Returns the
/// held blocks that must be released first. Raises OutOfMemoryError.
std::vector<MemoryPool::Block> MemoryPool::claim(size_t requested, size_t bytes) {
  PoolStatistics now;
  {
    Guard guard(lock_);
    const size_t used = statistics_.used_bytes + bytes;
    const size_t limit = statistics_.limit_bytes;
    if (limit == 0 || used <= limit) {
      const size_t peak = std::max(statistics_.peak_bytes, used);
      const size_t ceiling = std::max(peak + peak / 2, used + kAlwaysHold);
      std::vector<Block> excess = take_excess((limit ? std::min(limit, ceiling) : ceiling) - used);
      statistics_.used_bytes = used;
      return excess;
    }
    now = statistics_;
  }
  raise_out_of_memory(requested, now);
}

/// Under the lock: takes blocks off the lists until at most `keep_bytes` are held.
std::vector<MemoryPool::Block> MemoryPool::take_excess(size_t keep_bytes) {
  std::vector<Block> excess;
  while (statistics_.held_bytes > keep_bytes) {
    HeldBlocks* oldest = nullptr;
    for (HeldBlocks& held : held_)
      if (!held.blocks.empty() && (!oldest || held.last_use < oldest->last_use)) oldest = &held;
    const size_t bytes = SizeClass::bytes_of(static_cast<int>(oldest - held_.data()));
    for (; !oldest->blocks.empty() && statistics_.held_bytes > keep_bytes; oldest->blocks.pop_back()) {
      excess.push_back({oldest->blocks.back(), bytes});
      statistics_.held_bytes -= bytes;
    }
  }
  return excess;
}

void MemoryPool::release_to_source(std::span<const Block> blocks) noexcept {
  for (const Block& block : blocks) {
    unpoison(block.memory, block.bytes);
    source_->release(block.memory, block.bytes);
  }
}

PoolStatistics MemoryPool::statistics() const {
  Guard guard(lock_);
  return statistics_;
}

void MemoryPool::set_limit(size_t bytes) {
  std::vector<Block> excess;
  {
    Guard guard(lock_);
    statistics_.limit_bytes = bytes;
    if (bytes != 0) excess = take_excess(bytes - std::min(bytes, statistics_.used_bytes));
  }
  release_to_source(excess);
}

void MemoryPool::free_held() {
  std::vector<Block> excess;
  {
    Guard guard(lock_);
    excess = take_excess(0);
  }
  release_to_source(excess);
}

void MemoryPool::raise_out_of_memory(size_t requested, const PoolStatistics& now) const {
  throw OutOfMemoryError("out of memory on " + name_ + ": requested " + std::to_string(requested) + " bytes; used " +
                         std::to_string(now.used_bytes) + ", held " + std::to_string(now.held_bytes) + ", limit " +
                         (now.limit_bytes ? std::to_string(now.limit_bytes) : "none"));
}

// AddressSanitizer reports accesses to released blocks and beyond a request.
void MemoryPool::poison([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) const {
#ifdef IRUKA_POISON_RELEASED
  if (on_host_) ASAN_POISON_MEMORY_REGION(memory, bytes);
#endif
}

void MemoryPool::unpoison([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) const {
#ifdef IRUKA_POISON_RELEASED
  if (on_host_) ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
#endif
}

}  // namespace iruka
