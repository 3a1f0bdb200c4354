// Exact patch matching of bytes on the tensor cores of GPUs.
#pragma once

#include <string>

#include "iruka/patch_matching.h"

namespace iruka::image {

/// Whether match_by_tiles takes pictures like `a` with these options: bytes, one neighbour of each pixel, no window.
bool fits_tiles(const Array& a, const PatchOptions& options);
/// Whether it is the fastest way on the pictures' device. IRUKA_PATCH_TILES=0 says that it is not, for comparisons.
bool has_fast_tiles(const Array& a);

/// As match_by_kernels. On devices without tensor cores its products are plain loops.
NearestPatches match_by_tiles(const Array& a, const Array& b, const Array& mask, const PatchOptions& options);

/// The text of the kernel.
std::string match_tiles_text(int64_t patch, int64_t channels);

}  // namespace iruka::image
