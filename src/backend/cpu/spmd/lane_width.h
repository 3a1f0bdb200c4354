// How many lanes a body gets.
#pragma once

#include "backend/cpu/spmd/region.h"
#include "backend/cpu/spmd/spmd.h"

namespace iruka::cpu_backend::spmd {

struct LaneWidth {
  int lanes;
  unsigned bits;  ///< of the type that sets the number: one register holds `lanes` of them, or a part of the lanes
};

/// As many lanes as a register holds of the type that most of the work is done in; twice as many where a loop's rounds
/// wait for one another and registers are left; `request.lanes` where it says so.
LaneWidth choose_lanes(const LaneLoop& lane, const Request& request);

}  // namespace iruka::cpu_backend::spmd
