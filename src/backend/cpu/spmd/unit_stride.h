// Loads and stores of W elements that follow one another in memory.
#pragma once

#include "backend/cpu/spmd/access.h"
#include "backend/cpu/spmd/lane_by_lane.h"

namespace iruka::cpu_backend::spmd {

class UnitStrideMemory {
 public:
  UnitStrideMemory(LaneBuilder& build, LaneByLane& lane_by_lane, const WidenTarget& target, const BodyStart& start);

  /// The elements from the address `first` on, in the lanes of `mask`.
  llvm::Value* read(const Access& access, llvm::Value* first, llvm::Value* mask);
  void write(const Access& access, llvm::Value* lanes, llvm::Value* first, llvm::Value* mask);

 private:
  llvm::Value* load_vector(const Access& access, llvm::Value* first);
  llvm::Value* read_within_page(const Access& access, llvm::Value* first, llvm::Value* mask);

  LaneBuilder& build_;
  LaneByLane& lane_by_lane_;
  const WidenTarget& target_;
  const BodyStart& start_;
};

}  // namespace iruka::cpu_backend::spmd
