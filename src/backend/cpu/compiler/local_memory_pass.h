// Withdraws the promise that elements are independent where they share memory of the function itself.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend {

/// Emitted loops promise that their rounds touch different memory. That is not so for a local array that stayed in
/// memory because it is indexed at run time: all rounds share its one place on the stack. Such loops lose the promise,
/// so that LLVM's dependence analysis decides whether they become vectors. Locals that are only read, and those of
/// which every round has a part of its own, do no harm. The same goes for rounds that read array elements after writing
/// some, or that may write one twice. Runs just before the vectorisers, when most locals have become registers.
class LocalMemoryPass : public llvm::PassInfoMixin<LocalMemoryPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace iruka::cpu_backend
