// How each kind of device lays out loops over elements and launches them.
#pragma once

#include <cstdint>

#include "core/service.h"

namespace iruka::jit {

struct LaunchPolicy {
  static constinit const Implementations<const LaunchPolicy> implementations;

  /// A grid of threads has a thread for each few elements. Otherwise threads take ranges, over which the entry loops.
  bool has_grid;
  bool streams;  ///< large outputs may be written with non-temporal stores
  /// Bytes of the largest element up to which tiles are large: a processor's nearest cache holds larger ones than a
  /// GPU's block has threads for.
  int64_t most_bytes_in_large_tiles;

  /// Edge of a tile, from the largest element of the operands: a cache line or more along both axes, and a buffered
  /// tile well inside the first-level cache.
  int tile_edge(int64_t largest_element) const { return largest_element <= most_bytes_in_large_tiles ? 64 : 32; }
};

}  // namespace iruka::jit
