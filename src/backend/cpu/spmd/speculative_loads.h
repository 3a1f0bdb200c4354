// Loads that only some rounds of a loop execute, from an address that does not change in it, leave the loop.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// The call by which the emitter's text tells how many bytes lie behind the pointer of a raw array. Both arguments are
/// values of the entry.
inline constexpr const char* kArrayBytesName = "iruka_array_bytes";

/// LLVM leaves such loads where they are, as it cannot know that their address may be read. Here they are read before
/// the loop, by those lanes whose address is inside the array. Runs behind the hoisting of invariants, which has moved
/// the addresses.
void speculate_invariant_loads(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace iruka::cpu_backend::spmd
