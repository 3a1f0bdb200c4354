// Outputs of convolutions and layers in the groups of vectors that registers hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/cpu/blocks.h"
#include "iruka/array.h"

namespace iruka::cpu_backend {

/// Outputs of a group that one call of the loops computes.
struct OutputRange {
  int64_t first, outputs, vectors;
};

/// As many vectors at once as registers hold.
inline std::vector<OutputRange> ranges_of(int64_t outputs, int64_t lanes, int64_t most) {
  const int64_t vectors = divided(outputs, lanes), blocks = divided(vectors, most);
  std::vector<OutputRange> ranges;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t first = vectors * block / blocks, end = vectors * (block + 1) / blocks;
    ranges.push_back({first * lanes, std::min(end * lanes, outputs) - first * lanes, end - first});
  }
  return ranges;
}

/// Weights (outputs, channels / groups, ...) of float32 or float64 as (groups, ranges, steps, vectors, lanes) with
/// zeros for outputs beyond the last; a step is a place of the kernel and a channel of it.
Array packed_by_outputs(const Array& weights, int64_t groups);

}  // namespace iruka::cpu_backend
