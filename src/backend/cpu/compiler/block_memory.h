// Memory of the blocks that a thread of the pool runs: __shared__ variables and the frames of coroutines.
#pragma once

#include <cstddef>

namespace iruka::cpu_backend {

/// 64-byte aligned memory of the calling thread, until it is returned. Null, and a failed assertion is noted, where
/// there is none.
void* take_memory(size_t bytes) noexcept;
/// Fills the bytes behind a block's dynamic shared memory. check_margin() notes a failed assertion where threads of the
/// block have overwritten them.
void fill_margin(std::byte* margin, size_t bytes) noexcept;
void check_margin(const std::byte* margin, size_t bytes) noexcept;
// memory_mark() and return_memory() are in compiler.h.

}  // namespace iruka::cpu_backend
