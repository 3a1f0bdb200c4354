// Common code of the passes that make loops interruptible.
#pragma once

#include <cstdint>

#include "llvm/IR/IRBuilder.h"

namespace iruka::cpu_backend {

/// Rounds between two polls, some tens of microseconds.
inline constexpr uint64_t kPollRounds = 1 << 16;

/// Writes a poll on a cold path; the value is true if `function` must return at once.
llvm::Value* ask_whether_to_stop(llvm::IRBuilder<>& build, llvm::Function& function);

/// A new block that returns from `function`, with a zero result if it has one.
llvm::BasicBlock* make_return(llvm::Function& function);

}  // namespace iruka::cpu_backend
