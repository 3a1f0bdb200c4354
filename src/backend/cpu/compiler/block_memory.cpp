#include "backend/cpu/compiler/block_memory.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backend/cpu/compiler/compiler.h"
#include "backend/cpu/compiler/symbols.h"

namespace iruka::cpu_backend {
namespace {

constexpr size_t kAlign = 64, kSmallestChunk = size_t{256} << 10;
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

/// Chunks are kept for later blocks, until the thread ends.
struct Arena {
  std::vector<Chunk> chunks;
  size_t chunk = 0, offset = 0;

  void* take(size_t bytes) {
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    for (; chunk < chunks.size(); ++chunk, offset = 0) {
      if (chunks[chunk].bytes - offset < bytes) continue;
      std::byte* place = chunks[chunk].memory.get() + offset;
      offset += bytes;
      return place;
    }
    const size_t size = std::max(bytes, kSmallestChunk);
    Chunk made{std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(std::aligned_alloc(kAlign, size))), size};
    if (!made.memory) return nullptr;
    chunks.push_back(std::move(made));
    offset = bytes;
    return chunks.back().memory.get();
  }
};

Arena& arena() {
  thread_local Arena memory;
  return memory;
}

}  // namespace

void* take_memory(size_t bytes) noexcept {
  void* memory = nullptr;
  try {
    memory = bytes <= kOffsetMask ? arena().take(bytes) : nullptr;
  } catch (const std::bad_alloc&) {
  }
  if (!memory) note_failed_assertion("the memory of a block of threads can be allocated", "", 0, -1);
  return memory;
}

size_t memory_mark() noexcept {
  const Arena& memory = arena();
  return memory.chunk << kOffsetBits | memory.offset;
}

void return_memory(size_t mark) noexcept {
  Arena& memory = arena();
  memory.chunk = mark >> kOffsetBits;
  memory.offset = mark & kOffsetMask;
}

}  // namespace iruka::cpu_backend
