// Makes what C++ leaves undefined mean one thing, before anything is optimised.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend {

/// Division and remainder by zero give 0, the most negative number divided by -1 wraps; over-long shifts shift
/// everything out; float-to-integer casts saturate and NaN gives 0; bit counts of 0 and abs of the most negative number
/// are defined. Only selects are added, so loops still vectorise. Running off a function's end returns zero, and traps do.
class GuardPass : public llvm::PassInfoMixin<GuardPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
  static bool isRequired() { return true; }
};

}  // namespace iruka::cpu_backend
