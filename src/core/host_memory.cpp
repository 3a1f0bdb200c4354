// Raw memory of this process.
#include <sys/mman.h>

#include <cstdlib>

#include "core/pool.h"

namespace iruka {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
// Blocks from here on come from mmap, aligned so that huge pages can back them.
constexpr size_t kMapped = size_t{4} << 20;

class HostMemory final : public RawMemory {
 public:
  void* allocate(size_t bytes) noexcept override {
    return bytes < kMapped ? std::aligned_alloc(64, bytes) : map_aligned(bytes);
  }
  void release(void* memory, size_t bytes) noexcept override {
    if (bytes < kMapped)
      std::free(memory);
    else
      munmap(memory, bytes);
  }

 private:
  static void* map_aligned(size_t bytes) noexcept {
    const size_t mapped = bytes + kHugePage;
    void* const start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    const size_t lead = -reinterpret_cast<uintptr_t>(start) & (kHugePage - 1);
    char* const block = static_cast<char*>(start) + lead;
    if (lead > 0) munmap(start, lead);
    munmap(block + bytes, kHugePage - lead);
    // Page faults of ordinary pages are the main cost of a new large array.
    madvise(block, bytes, MADV_HUGEPAGE);
    return block;
  }
};

}  // namespace

std::unique_ptr<RawMemory> host_memory() { return std::make_unique<HostMemory>(); }

}  // namespace iruka
