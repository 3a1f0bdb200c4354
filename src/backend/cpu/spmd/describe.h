// The remarks about a loop in k.report().
#pragma once

#include "backend/cpu/spmd/lane_loop.h"
#include "core/device.h"

namespace iruka::cpu_backend::spmd {

LaneReport describe(const LaneLoop& lane, const LaneAnalysis& analysis, const PrivateMemory& memory);
/// Adds a remark with the place of the reason.
void describe_refusal(const Refusal& refusal, LaneReport& report);

}  // namespace iruka::cpu_backend::spmd
