// Masks on processors without mask registers.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// For widened loops and for those of LLVM's vectoriser. LLVM's simplifications make every mask a vector of i1, which the code generator packs into bytes where it does not see
/// a compare and its use at once. Behind them, this makes the logic between compares and uses (also across blocks) work
/// on integers as wide as what was compared, all bits set in a lane that is on.
class WideMaskPass : public llvm::PassInfoMixin<WideMaskPass> {
 public:
  explicit WideMaskPass(int vector_bytes) : vector_bytes_(vector_bytes) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
  static bool isRequired() { return true; }

 private:
  int vector_bytes_;
};

}  // namespace iruka::cpu_backend::spmd
