// Takes divisions that are the same in every round out of loops.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend {

/// A division whose operands do not change is done in front of the loop, guarded anew, also where only some rounds ask
/// for it. LLVM leaves it in the loop because it might trap; and LLVM 22's loop
/// vectoriser then computes it under the first lane's condition for all lanes. Runs just before the vectorisers.
class HoistPass : public llvm::PassInfoMixin<HoistPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace iruka::cpu_backend
