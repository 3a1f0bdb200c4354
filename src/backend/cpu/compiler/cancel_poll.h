// What the passes that let loops be interrupted have in common.
#pragma once

#include <cstdint>

#include "llvm/IR/IRBuilder.h"

namespace iruka::cpu_backend {

/// Rounds between two polls, some tens of microseconds.
inline constexpr uint64_t kPollRounds = 1 << 16;

/// Asks whether to stop, at a place that is seldom reached: true to return from `function` at once.
llvm::Value* ask_whether_to_stop(llvm::IRBuilder<>& build, llvm::Function& function);

/// A new block that returns from `function`, with zeros where it gives something.
llvm::BasicBlock* make_return(llvm::Function& function);

}  // namespace iruka::cpu_backend
