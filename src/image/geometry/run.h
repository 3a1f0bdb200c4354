// Runs passes of pictures on the device where they are.
#pragma once

#include <span>

#include "image/geometry/plan.h"
#include "iruka/array.h"

namespace iruka::image {

/// A pass and the arrays that it reads and fills, all on one device. The arrays do not overlap.
struct PassRun {
  PassPlan plan;
  Array source, result;
  Array map_y, map_x;  ///< places of a remap; else invalid
};

/// The places of a warp as both kinds of devices compute them.
struct WarpNumbers {
  WarpNumbers(const Warp& warp, int64_t outputs);

  bool divides;
  float column[3];
  std::vector<float> rows;  ///< (outputs, 3)
};

/// By the device's loops where it has some, else by a kernel.
void run_passes(std::span<const PassRun> runs);
/// By the kernel, on any device.
void run_by_kernel(const PassRun& run);
/// Set by tests: whether kernels run even where a device has loops.
bool prefers_kernels();
void prefer_kernels(bool are_preferred);

}  // namespace iruka::image
