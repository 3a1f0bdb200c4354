// Small local arrays that lanes index at places of their own become registers.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// Replaces the accesses to small local arrays of lane loops at indices that differ from lane to lane, as a sort has
/// them, by selects among all elements that the index may name. No address is left that is not a constant, so that the
/// array becomes registers. Otherwise every such access would be a gather or a scatter in the lanes' own memory, which
/// takes longer than a select for each element and waits for the store before. True when the function changed.
bool select_computed_places(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace iruka::cpu_backend::spmd
