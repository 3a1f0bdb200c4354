// Reads of raw arrays that nothing writes during a launch.
#pragma once

#include "llvm/IR/Function.h"

namespace iruka::cpu_backend::spmd {

/// The calls by which the emitter tells the pointer of an array that it passes as an output, and that of a raw input
/// whose memory no output overlaps.
inline constexpr const char *kOutputArrayName = "iruka_output_array", *kSeparateArrayName = "iruka_separate_array";

/// Marks the loads from separate arrays as invariant, provided that all stores go to outputs and locals. They are then
/// not repeated after a store through a pointer or a reference to an output, and may leave loops that store. True when
/// the function changed.
bool mark_constant_loads(llvm::Function& function);

}  // namespace iruka::cpu_backend::spmd
