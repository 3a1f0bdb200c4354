// Masks on processors without mask registers.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// LLVM's simplifications make every mask a vector of i1, which the code generator packs into bytes if the compare and
/// its use are in different blocks. After them, this pass makes mask logic (also across blocks) work on integers as
/// wide as the compared values, with all bits set in an active lane. It serves widened loops and those of LLVM's
/// vectoriser.
class WideMaskPass : public llvm::PassInfoMixin<WideMaskPass> {
 public:
  explicit WideMaskPass(int vector_bytes) : vector_bytes_(vector_bytes) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
  static bool isRequired() { return true; }

 private:
  int vector_bytes_;
};

}  // namespace iruka::cpu_backend::spmd
