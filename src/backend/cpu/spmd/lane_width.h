// The number of lanes for a body.
#pragma once

#include "backend/cpu/spmd/region.h"
#include "backend/cpu/spmd/spmd.h"

namespace iruka::cpu_backend::spmd {

struct LaneWidth {
  int lanes;
  unsigned bits;  ///< of the type that determines the number of lanes
};

/// As many lanes as a register holds of the type that most instructions work in; twice as many where a loop's rounds
/// depend on one another and enough registers are free. `request.lanes` overrides this.
LaneWidth choose_lanes(const LaneLoop& lane, const Request& request);

}  // namespace iruka::cpu_backend::spmd
