// Memory of a thread for loops of the library's own compiled code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace iruka::cpu_backend {

/// At least `bytes` bytes, aligned to 64, that the thread keeps until the next call. What it held before is lost.
inline void* scratch(size_t bytes) {
  constexpr size_t kAlignment = 64, kMostKept = size_t{8} << 20;
  static thread_local std::unique_ptr<std::byte[]> memory;
  static thread_local size_t size = 0;
  const size_t wanted = bytes + kAlignment;
  if (size < wanted || (size > kMostKept && wanted <= kMostKept)) {
    memory.reset(), size = 0;  // before the new memory is there
    memory = std::make_unique_for_overwrite<std::byte[]>(wanted);
    size = wanted;
  }
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.get()) + kAlignment - 1) & ~(kAlignment - 1));
}

}  // namespace iruka::cpu_backend
