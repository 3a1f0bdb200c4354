// Points of any layout, in blocks that are fast for lanes.
#pragma once

#include <functional>

#include "iruka/array.h"

namespace iruka::nn {

using PointRun = std::function<void(const Array& x, const Array& y)>;

/// Calls `run` with all points, once or in blocks, which several threads may do at once. A block of points that lanes
/// would read or write slowly is a copy in the cache. Features lie along the last axes of x and y, which share no
/// memory; points are independent of each other, and come in any order. On the CPU.
void run_in_blocks(const Array& x, const Array& y, const PointRun& run);

/// The first block that run_in_blocks() gives to `run`; the numbers of copies are not set. Points may be none.
struct BlockOfPoints {
  Array x, y;
  BlockOfPoints(const Array& all_x, const Array& all_y);
};

}  // namespace iruka::nn
