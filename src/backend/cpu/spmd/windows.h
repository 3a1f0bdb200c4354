// Loads of a few neighbouring elements at an address of each lane's own, which are then transposed.
#pragma once

#include "backend/cpu/spmd/interleaved.h"
#include "backend/cpu/spmd/lane_values.h"
#include "backend/cpu/spmd/strided.h"

namespace iruka::cpu_backend::spmd {

/// Whether a piece, the elements that are loaded at once, is no longer than W.
bool can_gather_windows(const InterleavedGroup& group, const LaneBuilder& build);

/// The channels of a group without a factor, by loads of up to 128 bits for each lane.
Channels gather_windows(LaneBuilder& build, LaneValues& values, const InterleavedGroup& group, const Access& access);

}  // namespace iruka::cpu_backend::spmd
