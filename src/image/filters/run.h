// Runs windows over pictures on the device where they are.
#pragma once

#include "image/filters/windows.h"
#include "image/geometry/plan.h"
#include "iruka/array.h"

namespace iruka::image {

/// One stage for one picture, and the arrays that it reads and fills, all on one device. They have the shape of the
/// picture and do not overlap. `other` is invalid without a difference.
struct FilterRun {
  FilterStage stage;
  PictureShape shape;
  Array source, other, result;
};

/// By kernels, on any device.
void filter_by_kernel(const FilterRun& run);

}  // namespace iruka::image
