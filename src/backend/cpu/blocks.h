// How the library's own compiled loops are divided among threads.
#pragma once

#include <cstdint>

namespace iruka::cpu_backend {

/// Blocks for each thread, so that threads end together.
inline constexpr int64_t kBlocksPerThread = 12;
/// Nanoseconds after which other threads take part: shorter loops are not shared.
inline constexpr int64_t kAlone = 20'000;

/// The quotient, rounded up.
constexpr int64_t divided(int64_t count, int64_t size) { return (count + size - 1) / size; }

}  // namespace iruka::cpu_backend
