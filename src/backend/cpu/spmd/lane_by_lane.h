// One lane after another, for what has no vector form.
#pragma once

#include "backend/cpu/spmd/lane_values.h"

namespace iruka::cpu_backend::spmd {

class LaneByLane {
 public:
  LaneByLane(LaneBuilder& build, LaneValues& values, const Body& body);

  /// Copies the instruction for every active lane.
  void write(llvm::Instruction& instruction);
  /// Calls `write` once, to write the work of the lane it is given (i32) inside of a loop over the active lanes, lowest
  /// first. The work reads a vector's lanes by lane_value(), of what spilled() has stored before the loop.
  void for_each_active_lane(llvm::Value* mask, llvm::function_ref<void(llvm::Value* lane)> write);
  llvm::AllocaInst* spilled(llvm::Value* vector);  ///< memory that holds the vector
  llvm::Value* lane_value(llvm::AllocaInst* spill, llvm::Type* type, llvm::Value* lane);
  /// Memory for what each lane computes: one array for a value, one for each member of a structure.
  llvm::SmallVector<llvm::AllocaInst*, 2> results_of(llvm::Type* type);
  llvm::Value* load_lanes(llvm::AllocaInst* spill, llvm::Type* type);

 private:
  void store_lanes(llvm::Value* vector, llvm::AllocaInst* spill);
  llvm::Value* lane_operand(llvm::Value* operand, llvm::ArrayRef<llvm::AllocaInst*> spills, llvm::Value* lane);

  LaneBuilder& build_;
  LaneValues& values_;
  const Body& body_;
};

}  // namespace iruka::cpu_backend::spmd
