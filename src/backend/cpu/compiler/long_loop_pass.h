// Lets long counting loops be interrupted at no cost for their rounds.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend {

/// Marks an innermost loop that CancelPass left alone and that may have many rounds.
inline constexpr const char* kLongLoopMetadata = "iruka.long_loop";

/// A loop that is marked runs in strips of 65536 rounds: it compares with the end of the strip instead of its own end, so a
/// round takes no further instruction, and polls for cancellation in between. Runs once the loop is made of vectors. One
/// whose end is not the last round's test of a counter stays as it is.
class LongLoopPass : public llvm::PassInfoMixin<LongLoopPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace iruka::cpu_backend
