// Runs windows over pictures on the device where they are.
#pragma once

#include <span>

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

/// By kernels, on any devices. Pictures of one device and dtype are one launch for each pass.
void filter_by_kernel(std::span<const FilterRun> runs);

}  // namespace iruka::image
