// Pointers into local arrays that are chosen at run time become indices.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

namespace iruka::cpu_backend::spmd {

/// Joins local arrays whose addresses meet in one pointer, as two rows do that are exchanged, into one array, and makes
/// that pointer an index. A pointer that walks through an array becomes an index, too. The lanes of such an array can
/// lie side by side, because every address is again a sum of the array's and an index. True when the function changed.
bool merge_locals(llvm::Function& function, const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops);

}  // namespace iruka::cpu_backend::spmd
