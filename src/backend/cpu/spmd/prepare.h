// Simplifies a function with lane loops before they are read: everything inlined, variables in registers, no pass that
// carries values from one element to the next.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// Inlines whatever a function with a lane loop calls, except functions that call themselves.
void inline_everything(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);

/// Enough to see what kind of body it is.
void simplify(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// The form the analysis takes: short loops unrolled, switches as branches, no short vectors, loops simplified, LCSSA.
void make_ready(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace iruka::cpu_backend::spmd
