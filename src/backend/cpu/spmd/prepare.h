// Simplifies a function with lane loops before the analysis: calls are inlined and variables become registers. No pass
// runs that carries values from one element to the next.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// In the argument of a marker: the loop runs over threads of a block.
inline constexpr uint64_t kThreadsFlag = 8;

/// Inlines whatever a function with a lane loop calls, except functions that call themselves.
void inline_everything(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);

/// Simplifies just enough to classify the body.
void simplify(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// Brings the function into the form that the analysis needs: short loops unrolled, switches as branches, no short
/// vectors, loops simplified, LCSSA.
void make_ready(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace iruka::cpu_backend::spmd
