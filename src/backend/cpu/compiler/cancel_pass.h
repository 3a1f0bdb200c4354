// Makes long loops interruptible.
#pragma once

#include "llvm/IR/PassManager.h"

namespace iruka::cpu_backend {

/// Marks a loop over elements, or over rows of them, that the SPMD vectoriser wrote.
inline constexpr const char* kLaneLoopMetadata = "iruka.lane_loop";

/// A loop polls for cancellation, and returns from the function if it is cancelled, where its length cannot be
/// computed, where it holds a loop that is not known to be short, and where it calls a function of the text. One count
/// of rounds runs through all loops of a function, so that a poll comes about every 65536 rounds whatever their
/// nesting. An innermost loop of computable length does not poll, so that it can be vectorised; the loop around it
/// counts all of its rounds. Runs late, and before the vectorisers if there are any.
class CancelPass : public llvm::PassInfoMixin<CancelPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace iruka::cpu_backend
