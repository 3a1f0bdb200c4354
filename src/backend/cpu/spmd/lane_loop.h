// Finds the emitter's loops over elements and brings them into the form that the widener expects.
#pragma once

#include <string>
#include <vector>

#include "backend/cpu/spmd/region.h"
#include "backend/cpu/spmd/shapes.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {

/// The call by which the emitter's text marks a loop whose rounds are elements; its argument is a sum of LaneLoopFlag.
inline constexpr const char* kMarkerName = "iruka_lane_loop";

/// The calls in a function that mark its loops over elements.
std::vector<llvm::CallInst*> find_markers(llvm::Function& function);

struct MarkedLoops {
  llvm::SmallPtrSet<const llvm::Loop*, 4> over_elements;  ///< those that hold a marker
  llvm::SmallPtrSet<const llvm::Loop*, 8> around;         ///< these, and all around them
};
MarkedLoops find_marked_loops(const llvm::Function& function, const llvm::LoopInfo& loops);

/// Why a loop stays scalar, and the place in the text.
struct Refusal {
  std::string reason;  ///< empty: the loop can be widened
  llvm::DebugLoc place;
  explicit operator bool() const { return !reason.empty(); }
};

/// Brings the loop around `marker` into LaneLoop's form. The loop must be in simplified form. Updates loops and
/// dominators.
Refusal find_lane_loop(llvm::CallInst& marker, llvm::LoopInfo& loops, llvm::DominatorTree& dominators, LaneLoop& lane);

/// Refuses bodies that cannot be widened: with recursion, inline assembly or types without a vector form.
Refusal check_body(const LaneLoop& lane, const PrivateMemory& memory);

/// The first division of the counter by a loop-invariant value, with all quotients and remainders of the same numbers.
RowSplit find_row_split(const LaneLoop& lane, int lanes);

}  // namespace iruka::cpu_backend::spmd
