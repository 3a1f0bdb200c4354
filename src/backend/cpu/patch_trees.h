// Approximate patch matching on the CPU.
#pragma once

#include "core/patch_matching.h"

namespace iruka::cpu_backend {

/// As PatchMatchings::approximate.
void match_by_trees(const PatchMatching& job, uint64_t seed, int64_t iterations);

}  // namespace iruka::cpu_backend
