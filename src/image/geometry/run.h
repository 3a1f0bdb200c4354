// Runs passes of pictures on the device where they are.
#pragma once

#include <memory>
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

/// Strides of a picture in bytes.
struct Strides {
  int64_t row, column, channel;
};
Strides strides_of(const Array& array, const PictureShape& shape);

/// The places of a warp as both kinds of devices compute them.
struct WarpNumbers {
  WarpNumbers(const Warp& warp, int64_t outputs);
  static bool divides_places(const Warp& warp) {
    return warp.matrix[6] != 0 || warp.matrix[7] != 0 || warp.matrix[8] != 1;
  }

  bool divides;
  float column[3];
  std::vector<float> rows;  ///< (outputs, 3)
};

/// A pass of the CPU's loops whose source arrives row by row: run.source is memory for some rows, row y at
/// y % run.source.shape(0). Null where the pass needs the whole picture.
std::unique_ptr<ResamplingStream> stream_pass(const PassRun& run);
/// The rows of memory for a stream of this pass.
int64_t stream_rows(const PassPlan& plan);
/// By the device's loops where it has some, else by a kernel.
void run_passes(std::span<const PassRun> runs);
/// By kernels, on any device.
void run_by_kernel(std::span<const PassRun> runs);
/// Set by tests: whether kernels run even where a device has loops.
bool prefers_kernels();
void prefer_kernels(bool are_preferred);

}  // namespace iruka::image
