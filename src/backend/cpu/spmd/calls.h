// What becomes of a call.
#pragma once

#include "backend/cpu/spmd/shapes.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InstrTypes.h"

namespace iruka::cpu_backend::spmd {

enum class CallForm : uint8_t {
  dropped,   ///< says something to the optimiser, or to a debugger
  identity,  ///< gives its first operand
  unknown,   ///< asks whether an operand is a constant: no
  division,  ///< of integers
  prefetch,
  math,          ///< a function of the vector math library
  intrinsic,     ///< has a vector form
  lane_by_lane,  ///< anything else
};

CallForm call_form(const llvm::CallInst& call, const LaneAnalysis& analysis, const llvm::TargetLibraryInfo& library,
                   const llvm::TargetTransformInfo& costs);

}  // namespace iruka::cpu_backend::spmd
