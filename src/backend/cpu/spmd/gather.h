// Loads and stores at unrelated addresses.
#pragma once

#include "backend/cpu/spmd/access.h"
#include "backend/cpu/spmd/lane_by_lane.h"

namespace iruka::cpu_backend::spmd {

class GatherMemory {
 public:
  GatherMemory(LaneBuilder& build, LaneValues& values, LaneByLane& lane_by_lane, const Body& body);

  llvm::Value* gather(const Access& access);
  void scatter(const Access& access, llvm::Value* lanes);

 private:
  struct Indexed {
    llvm::Value *base = nullptr, *index = nullptr;  ///< base + index * scale bytes; the index is a vector
    uint64_t scale = 1;
  };
  Indexed indexed(const Access& access);
  llvm::Value* gather_by_processor(const Access& access);

  LaneBuilder& build_;
  LaneValues& values_;
  LaneByLane& lane_by_lane_;
  const Body& body_;
};

/// Memory that holds zero, with room for one element, which inactive lanes read. A constant, because LLVM makes a
/// branch of a load that chooses between this and a local.
llvm::Value* zero_place(LaneBuilder& build);

}  // namespace iruka::cpu_backend::spmd
