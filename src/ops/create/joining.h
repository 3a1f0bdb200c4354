// Where concatenate, stack, vstack and hstack place their arrays.
#pragma once

#include <span>
#include <vector>

#include "iruka/array.h"

namespace iruka::ops {

/// Arrays that follow one another along an axis.
struct Joint {
  std::vector<Array> parts;
  int64_t axis = 0;
};
Joint stack_joint(std::span<const Array> arrays, int64_t axis);
Joint vstack_joint(std::span<const Array> arrays);
Joint hstack_joint(std::span<const Array> arrays);

/// The shape of concatenate's result. Raises what concatenate raises.
Dims joined_shape(std::span<const Array> parts, int64_t axis);

}  // namespace iruka::ops
