// Patch matching by kernels that run on every device: approximate, and exact for pictures of any kind.
#pragma once

#include "iruka/patch_matching.h"

namespace iruka::image {

/// As nnf. The pictures are dense and of one dtype, an integer's, float32 or float64; the mask is dense, or invalid.
NearestPatches search_patches(const Array& a, const Array& b, const Array& mask, const PatchOptions& options);
/// The same, exact: each patch is compared with every other one.
NearestPatches search_all_patches(const Array& a, const Array& b, const Array& mask, const PatchOptions& options);

/// The picture with the margins that patches see, dense.
Array bordered(const Array& picture, int64_t patch, Border border);

}  // namespace iruka::image
