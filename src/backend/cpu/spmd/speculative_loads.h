// Loads that only some rounds of a loop execute, from an address that does not change in it, leave the loop.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// LLVM leaves such loads where they are, as it cannot know that their address may be read. Here they are read before
/// the loop, by those lanes whose address is inside the array. Runs behind the hoisting of invariants, which has moved
/// the addresses.
void speculate_invariant_loads(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace iruka::cpu_backend::spmd
