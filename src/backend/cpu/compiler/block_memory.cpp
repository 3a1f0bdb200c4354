#include "backend/cpu/compiler/block_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "backend/cpu/compiler/compiler.h"
#include "backend/cpu/compiler/symbols.h"

namespace iruka::cpu_backend {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kThreadChunk = size_t{256} << 10, kBlockChunk = size_t{4} << 10;
/// What a thread keeps for later launches, and what the blocks of one launch may take while they wait for each other.
constexpr size_t kMostKept = size_t{32} << 20, kMostSuspended = size_t{2} << 30;
/// Neither a number that kernels often write nor a valid index.
constexpr std::byte kMarginByte{0xA5};
/// A mark holds the number of a chunk and an offset in it.
constexpr int kOffsetBits = 40;
constexpr size_t kOffsetMask = (size_t{1} << kOffsetBits) - 1;

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

struct Chunk {
  std::unique_ptr<std::byte, Free> memory;
  size_t bytes = 0;
};

/// Memory that is given back in the reverse order. Chunks are kept for later use.
class Arena {
 public:
  explicit Arena(size_t first_chunk, std::atomic<size_t>* taken = nullptr)
      : first_chunk_(first_chunk), suspended_(taken) {}

  void* take(size_t bytes) {
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    for (; chunk_ < chunks_.size(); ++chunk_, offset_ = 0) {
      if (chunks_[chunk_].bytes - offset_ < bytes) continue;
      std::byte* place = chunks_[chunk_].memory.get() + offset_;
      offset_ += bytes;
      return place;
    }
    // Chunks grow, so that there are few.
    const size_t size = std::max({bytes, first_chunk_, std::min(total_, kThreadChunk)});
    if (suspended_ && suspended_->fetch_add(size, std::memory_order_relaxed) + size > kMostSuspended) return nullptr;
    Chunk made{std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(std::aligned_alloc(kAlign, size))), size};
    if (!made.memory) return nullptr;
    chunks_.push_back(std::move(made));
    total_ += size;
    offset_ = bytes;
    return chunks_.back().memory.get();
  }

  size_t mark() const { return chunk_ << kOffsetBits | offset_; }
  void return_to(size_t mark) {
    chunk_ = mark >> kOffsetBits;
    offset_ = mark & kOffsetMask;
    if (mark != 0) return;
    for (; total_ > kMostKept; chunks_.pop_back()) total_ -= chunks_.back().bytes;
  }

 private:
  const size_t first_chunk_;
  std::atomic<size_t>* const suspended_;  ///< counts the bytes of all blocks of a launch; null for a thread's memory
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0, offset_ = 0, total_ = 0;
};

thread_local Arena* block_arena = nullptr;  ///< of the suspended block that the thread runs

Arena& arena() {
  thread_local Arena memory(kThreadChunk);
  return block_arena ? *block_arena : memory;
}

}  // namespace

void* take_memory(size_t bytes) noexcept {
  void* memory = nullptr;
  try {
    memory = bytes <= kOffsetMask ? arena().take(bytes) : nullptr;
  } catch (const std::bad_alloc&) {
  }
  if (!memory)
    note_failed_assertion(block_arena ? "the blocks of a cooperative launch have at most 2 GiB of memory together"
                                      : "the memory of a block of threads can be allocated",
                          "", 0, -1);
  return memory;
}

void fill_margin(std::byte* margin, size_t bytes) noexcept { std::fill_n(margin, bytes, kMarginByte); }

void check_margin(const std::byte* margin, size_t bytes) noexcept {
  unsigned changed = 0;
  for (size_t k = 0; k < bytes; ++k) changed |= static_cast<unsigned>(margin[k] ^ kMarginByte);
  if (changed)
    note_failed_assertion("the threads of a block write no further than shared_mem gives them dynamic shared memory",
                          "", 0, -1);
}

size_t memory_mark() noexcept { return arena().mark(); }

void return_memory(size_t mark) noexcept { arena().return_to(mark); }

/// The compiled code's part is jit/kernels/cpu/blocks.h, SuspendedBlock.
struct GridBlocks::Block {
  const void* arguments;
  void* state = nullptr;
  unsigned waiting = 0;
  Arena memory;
  bool has_begun = false;

  Block(const void* given, std::atomic<size_t>& taken) : arguments(given), memory(kBlockChunk, &taken) {}
};

struct GridBlocks::State {
  EntryFunction entry;
  std::atomic<size_t> taken{0};
  std::deque<Block> blocks;
};

GridBlocks::GridBlocks(EntryFunction entry, const void* arguments, int64_t count) : state_(new State{entry}) {
  for (int64_t k = 0; k < count; ++k) state_->blocks.emplace_back(arguments, state_->taken);
}

GridBlocks::~GridBlocks() = default;

int64_t GridBlocks::run(int64_t begin, int64_t end) {
  int64_t waiting = 0;
  for (int64_t k = begin; k < end; ++k) {
    Block& block = state_->blocks[static_cast<size_t>(k)];
    if (block.has_begun && block.waiting == 0) continue;
    block.has_begun = true;
    Arena* const outer = std::exchange(block_arena, &block.memory);  // launches nest, as in CpuDevice
    state_->entry(&block, k, k + 1);
    block_arena = outer;
    waiting += block.waiting > 0;
  }
  return waiting;
}

}  // namespace iruka::cpu_backend
