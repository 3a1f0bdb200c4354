// Random numbers that are the same on every machine: a failing kernel is found again by its seed.
#pragma once

#include <cstdint>
#include <iterator>

namespace iruka::testing {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) { next(); }
  /// A stream of its own for every pair of numbers.
  Random(uint64_t seed, uint64_t stream) : Random(Random(seed).next() ^ (stream + 1) * 0x9e3779b97f4a7c15u) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int limit) { return static_cast<int>(next() % static_cast<uint64_t>(limit)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class Range>
  const auto& pick(const Range& range) {
    return *(std::begin(range) + below(static_cast<int>(std::size(range))));
  }

 private:
  uint64_t state_;
};

}  // namespace iruka::testing
