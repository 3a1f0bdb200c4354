// Convolutions of few outputs on the CPU: vectors of neighbouring pixels, as vectors of outputs would be mostly empty.
// Results are in C order; images have any of both orders.
#pragma once

#include "core/convolutions.h"

namespace iruka::cpu_backend {

/// Whether convolutions with `outputs` and `channels` for each of their groups are done so. `lanes`: of a vector.
bool is_planar(int64_t outputs, int64_t channels, int64_t groups, int64_t lanes);

/// float32 or float64; the weights are as they are given. False where blocks would need much memory.
bool convolve_planar(const Convolution& convolution);

}  // namespace iruka::cpu_backend
