// Approximate patch matching, by the same kernels on every device.
#pragma once

#include "iruka/patch_matching.h"

namespace iruka::image {

/// As nnf. The pictures are dense and of one dtype, an integer's, float32 or float64; the mask is dense, or invalid.
NearestPatches search_patches(const Array& a, const Array& b, const Array& mask, const PatchOptions& options);

}  // namespace iruka::image
