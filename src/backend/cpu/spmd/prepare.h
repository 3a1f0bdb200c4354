// Simplifies a function with lane loops before the analysis: calls are inlined and variables become registers. No pass
// runs that carries values from one element to the next.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// In the argument of a marker: the loop runs over threads of a block.
inline constexpr uint64_t kThreadsFlag = 8;

/// Inlines whatever a function with a lane loop calls, except functions that call themselves.
void inline_everything(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);

/// Stores poison where a variable's lifetime begins. Otherwise a variable that is not always written would seem to
/// carry the value of the last element, once it is in registers. Simplification removes such stores, so that each step
/// that may bring more variables into registers needs them anew.
void store_poison_at_lifetime_start(llvm::Function& function);

/// Simplifies just enough to classify the body.
void simplify(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// Brings the function into the form that the analysis needs: short loops unrolled, switches as branches, no short
/// vectors, loops simplified, LCSSA.
void make_ready(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace iruka::cpu_backend::spmd
