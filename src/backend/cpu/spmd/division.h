// Integer divisions of W lanes.
#pragma once

#include "backend/cpu/spmd/lane_values.h"
#include "llvm/Analysis/AssumptionCache.h"

namespace iruka::cpu_backend::spmd {

class DivisionWriter {
 public:
  DivisionWriter(LaneBuilder& build, LaneValues& values, const Body& body);

  /// Writes the quotient or remainder that `division` computes; `opcode` says which one, with or without sign.
  void write(llvm::Instruction& division, unsigned opcode, llvm::Value* dividend, llvm::Value* divisor);

 private:
  LaneBuilder& build_;
  LaneValues& values_;
  const Body& body_;
  llvm::AssumptionCache assumptions_;  ///< reads the function when it is first asked
};

}  // namespace iruka::cpu_backend::spmd
