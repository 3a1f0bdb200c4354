// Memory of a thread for loops of the library's own compiled code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace iruka::cpu_backend {

/// At least `bytes` bytes, aligned to 64, that the thread keeps until the next call. What it held before is lost.
inline void* scratch(size_t bytes) {
  static thread_local std::vector<std::byte> memory;
  if (memory.size() < bytes + 64) memory.resize(bytes + 64);
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63});
}

}  // namespace iruka::cpu_backend
