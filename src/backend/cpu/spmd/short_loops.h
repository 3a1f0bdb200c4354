// Loops with few rounds, whose number is known, become straight code.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// Unrolls such loops inside the bodies, inner ones first and each behind the simplification of those inside it, so
/// that the way in which a text writes its indices does not decide. Local arrays become registers by it, and what does
/// not change in a loop around them can leave it.
void unroll_short_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace iruka::cpu_backend::spmd
