// Loads and stores; how the address differs from lane to lane decides which access is written.
#pragma once

#include "backend/cpu/spmd/gather.h"
#include "backend/cpu/spmd/group_access.h"
#include "backend/cpu/spmd/row_test.h"
#include "backend/cpu/spmd/unit_stride.h"

namespace iruka::cpu_backend::spmd {

class MemoryWriter {
 public:
  MemoryWriter(LaneBuilder& build, LaneValues& values, LaneByLane& lane_by_lane, const Body& body,
               const BodyStart& start);

  /// Prepares the loads and stores of a block before it is written; the builder's mask is the block's.
  void begin(llvm::BasicBlock& block) { groups_.find(block); }
  void write_load(llvm::LoadInst& load);
  void write_store(llvm::StoreInst& store);

 private:
  llvm::Value* read(const Access& access);
  llvm::Value* read_row_or_gather(const Access& access);
  void write_lanes(const Access& access, llvm::Value* lanes);
  llvm::Value* last_active_value(llvm::Value* value);
  llvm::Value* last_lane_address(const Access& access);

  LaneBuilder& build_;
  LaneValues& values_;
  const Body& body_;
  UnitStrideMemory unit_stride_;
  GatherMemory gathers_;
  RowTester rows_;
  GroupAccess groups_;
};

}  // namespace iruka::cpu_backend::spmd
