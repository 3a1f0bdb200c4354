// Exact patch matching on the CPU.
#pragma once

#include "core/patch_matching.h"

namespace iruka::cpu_backend {

PatchMatchings& cpu_patch_matchings();

}  // namespace iruka::cpu_backend
