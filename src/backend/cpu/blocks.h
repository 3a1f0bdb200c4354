// How the library's own compiled loops are divided among threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace iruka::cpu_backend {

/// Blocks for each thread, so that threads end together.
inline constexpr int64_t kBlocksPerThread = 12;
/// Nanoseconds after which other threads take part: shorter loops are not shared.
inline constexpr int64_t kAlone = 20'000;

/// The quotient, rounded up.
constexpr int64_t divided(int64_t count, int64_t size) { return (count + size - 1) / size; }

/// A coordinate of a block: the remainder of its number, which is divided by `count`.
constexpr int64_t take(int64_t& number, int64_t count) {
  const int64_t rest = number % count;
  number /= count;
  return rest;
}

/// How many of the `count` places first, first + step... lie before `place`.
constexpr int64_t places_before(int64_t place, int64_t first, int64_t step, int64_t count) {
  return std::clamp<int64_t>(place <= first ? 0 : divided(place - first, step), 0, count);
}

}  // namespace iruka::cpu_backend
