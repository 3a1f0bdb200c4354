// Hoists loop-invariant divisions out of loops.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend {

/// A division of loop-invariant operands is computed in front of the loop with a new guard, even if only some rounds
/// use it. LLVM leaves it in the loop because it might trap; and LLVM 22's loop vectoriser then computes it under the
/// first lane's condition for all lanes. Runs just before the vectorisers.
class HoistPass : public llvm::PassInfoMixin<HoistPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace iruka::cpu_backend
