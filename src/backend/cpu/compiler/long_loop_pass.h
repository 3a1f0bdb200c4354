// Makes long counting loops interruptible at no cost for their rounds.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend {

/// Marks an innermost loop that CancelPass has not changed and that may have many rounds.
inline constexpr const char* kLongLoopMetadata = "iruka.long_loop";

/// A loop that is marked runs in strips of 65536 rounds: it compares with the end of the strip instead of its own end,
/// so a round takes no further instruction, and polls for cancellation in between. Runs after vectorisation. A loop
/// that is not left by the test of a counter at the end of a round stays unchanged.
class LongLoopPass : public llvm::PassInfoMixin<LongLoopPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace iruka::cpu_backend
