// Lets loops of unknown length be interrupted.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend {

/// A loop whose trip count scalar evolution cannot express polls for cancellation every 4096 rounds (16 where a round
/// holds loops or calls) and returns from the function when told to. Loops with a computable count are left alone, so
/// that they vectorise. Runs just before the vectorisers, where loops are canonical.
class CancelPass : public llvm::PassInfoMixin<CancelPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace iruka::cpu_backend
