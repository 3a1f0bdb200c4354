// Masks that cross blocks, on processors without mask registers.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend::spmd {

/// LLVM's simplifications make every mask a vector of i1, which the code generator packs at the end of a block and unpacks
/// at the next one's begin. Behind them, this makes phis of such vectors into phis as wide as what was compared.
class MaskPhiPass : public llvm::PassInfoMixin<MaskPhiPass> {
 public:
  explicit MaskPhiPass(int vector_bytes) : vector_bytes_(vector_bytes) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
  static bool isRequired() { return true; }

 private:
  int vector_bytes_;
};

}  // namespace iruka::cpu_backend::spmd
