// Memory between two inaccessible pages, for tests that accesses stay inside an array.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "iruka/array.h"
#include "iruka/device.h"

namespace iruka::test {

/// Which guard page the bytes touch.
enum class Flush : uint8_t { front, back };

/// `bytes` bytes whose first (or last) one lies against an inaccessible page: a step over it ends the process. What is
/// left of the pages on the other side holds a pattern. Mappings are kept for reuse.
class GuardedMemory {
 public:
  static constexpr std::byte kPattern{0xA5};

  GuardedMemory(size_t bytes, Flush flush) : pages_(std::max<size_t>(1, (bytes + page() - 1) / page())), bytes_(bytes) {
    std::vector<std::byte*>& idle = kept()[pages_];
    if (idle.empty()) {
      start_ = map(pages_);
    } else {
      start_ = idle.back();
      idle.pop_back();
    }
    data_ = flush == Flush::front ? start_ : start_ + pages_ * page() - bytes;
    std::memset(start_, static_cast<int>(kPattern), pages_ * page());
  }
  ~GuardedMemory() { kept()[pages_].push_back(start_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// Whether the rest of the pages still holds the pattern.
  bool surroundings_are_intact() const {
    const auto is_pattern = [](std::byte value) { return value == kPattern; };
    return std::all_of(start_, data_, is_pattern) && std::all_of(data_ + bytes_, start_ + pages_ * page(), is_pattern);
  }

 private:
  static size_t page() {
    static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return size;
  }
  static std::map<size_t, std::vector<std::byte*>>& kept() {
    static auto& mappings = *new std::map<size_t, std::vector<std::byte*>>;
    return mappings;
  }
  static std::byte* map(size_t pages) {
    void* const all = mmap(nullptr, (pages + 2) * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    std::byte* const start = static_cast<std::byte*>(all) + page();
    if (mprotect(start, pages * page(), PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    return start;
  }

  size_t pages_, bytes_;
  std::byte *start_, *data_;
};

/// An array in `memory`, element 0 at byte `offset`. It keeps the memory.
inline Array guarded_array(std::shared_ptr<GuardedMemory> memory, Dtype dtype, const Dims& shape, const Dims& strides,
                           int64_t offset = 0) {
  void* const data = memory->data();
  const size_t bytes = memory->bytes();
  auto buffer = std::make_shared<Buffer>(cpu(), data, bytes, true, [memory = std::move(memory)] {});
  return Array(std::move(buffer), dtype, shape, strides, offset);
}

}  // namespace iruka::test
