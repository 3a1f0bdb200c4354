// Writes the body of a lane loop for W elements.
#pragma once

#include "backend/cpu/spmd/control_flow.h"

namespace iruka::cpu_backend::spmd {

/// One copy of the body.
class Widener {
 public:
  Widener(const Body& body, const BodyStart& start)
      : start_(start), build_(body), values_(build_, body, start_), flow_(build_, values_, body, start_) {}
  Widener(const Widener&) = delete;
  Widener& operator=(const Widener&) = delete;

  /// Writes the body behind `block`, which has no terminator; returns the block where it ends, without terminator.
  llvm::BasicBlock* write(llvm::BasicBlock* block) {
    values_.open(block);
    flow_.write(start_.mask);
    return build_.GetInsertBlock();
  }
  /// Locals that are to become registers once all of the function's blocks have terminators.
  llvm::ArrayRef<llvm::AllocaInst*> slots() const { return flow_.slots(); }

 private:
  const BodyStart start_;
  LaneBuilder build_;
  LaneValues values_;
  ControlFlow flow_;
};

}  // namespace iruka::cpu_backend::spmd
