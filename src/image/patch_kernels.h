// Exact patch matching by kernels, for devices without compiled loops.
#pragma once

#include <string>

#include "iruka/patch_matching.h"

namespace iruka::image {

/// The largest side of a patch.
inline constexpr int64_t kMostPatch = 1023;

/// As nnf with the method `exact`. The pictures are dense and of one dtype, an integer's, float32 or float64; the mask
/// is dense, or invalid.
NearestPatches match_by_kernels(const Array& a, const Array& b, const Array& mask, const PatchOptions& options);

/// The text of the kernel that compares patches of bytes, in `planes` words a pixel.
std::string match_bytes_text(int64_t patch, int64_t planes, int64_t kept, bool has_window);

}  // namespace iruka::image
