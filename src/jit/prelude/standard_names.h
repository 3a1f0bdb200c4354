// For `#include <stdint.h>`, `<math.h>`, `<cupy/complex.cuh>` and others (jit/includes.cpp has the list): the prelude
// declares what kernels use of them.
#pragma once
