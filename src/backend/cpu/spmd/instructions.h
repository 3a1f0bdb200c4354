// The instructions of a block, as copies on scalars or as vector instructions.
#pragma once

#include "backend/cpu/spmd/calls.h"
#include "backend/cpu/spmd/memory.h"

namespace iruka::cpu_backend::spmd {

class InstructionWriter {
 public:
  InstructionWriter(LaneBuilder& build, LaneValues& values, const Body& body, const BodyStart& start);

  /// Writes all but the phis and the terminator, for the lanes of the builder's mask.
  void write_block(llvm::BasicBlock& block);

 private:
  void write(llvm::Instruction& instruction);
  void write_load(llvm::LoadInst& load);
  void write_store(llvm::StoreInst& store);
  void write_uniform(llvm::Instruction& instruction);  ///< a copy on scalars
  void write_linear(llvm::Instruction& instruction);   ///< a copy on the first lane
  void write_varying(llvm::Instruction& instruction);
  void write_address(llvm::GetElementPtrInst& address);

  LaneBuilder& build_;
  LaneValues& values_;
  const Body& body_;
  const BodyStart& start_;
  LaneByLane lane_by_lane_;
  MemoryWriter memory_;
  DivisionWriter divisions_;
  CallWriter calls_;
};

}  // namespace iruka::cpu_backend::spmd
