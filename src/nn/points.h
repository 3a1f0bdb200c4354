// The points of an array, whose features lie along its last axis, as kernels take them.
#pragma once

#include "iruka/array.h"
#include "nn/perceptron_text.h"

namespace iruka::nn {

struct Points {
  PointLayout layout;
  Array view;      ///< all numbers, or the first feature of each point
  int64_t stride;  ///< from one feature to the next, in bytes
  int64_t count;

  /// `alignment`: of packed points, in bytes.
  Points(const Array& x, int64_t alignment);
};

}  // namespace iruka::nn
