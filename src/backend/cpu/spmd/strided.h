// Loads of neighbouring channels at a small constant stride, as wide loads that are shuffled.
#pragma once

#include "backend/cpu/spmd/access.h"
#include "backend/cpu/spmd/lane_builder.h"

namespace iruka::cpu_backend::spmd {

/// The vectors of neighbouring elements, from the lowest address on.
using Channels = llvm::SmallVector<llvm::Value*, 16>;

/// Reads `channels` neighbouring elements of each lane, `factor` elements from lane to lane. All lanes are active.
Channels read_strided(LaneBuilder& build, const Access& access, llvm::Value* first, unsigned factor, unsigned channels);

}  // namespace iruka::cpu_backend::spmd
