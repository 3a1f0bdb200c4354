// Values between arrays, and how far they are apart.
#pragma once

#include "iruka/kernel.h"

namespace iruka::ops {

struct Spaced {
  Array values;  ///< along a new first axis
  Array steps;   ///< an invalid array for a single value
};

/// linspace() of arrays or scalars, computed in `dtype`, of floats or complex numbers.
Spaced spaced(const Argument& start, const Argument& stop, int64_t count, bool endpoint, Dtype dtype);

}  // namespace iruka::ops
