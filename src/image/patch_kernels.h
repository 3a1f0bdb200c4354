// Patch matching by kernels, for devices without compiled loops.
#pragma once

#include "core/patch_matching.h"

namespace iruka::image {

/// The largest side of a patch.
inline constexpr int64_t kMostPatch = 1023;

/// As PatchMatchings::match, with the pictures and results in the memory of `device`.
void match_by_kernels(const PatchMatching& job, Device& device);

}  // namespace iruka::image
