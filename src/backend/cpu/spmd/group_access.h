// Loads and stores of the groups of neighbouring channels that find_interleaved_groups() finds.
#pragma once

#include "backend/cpu/spmd/interleaved.h"
#include "backend/cpu/spmd/row_test.h"
#include "backend/cpu/spmd/strided.h"
#include "backend/cpu/spmd/unit_stride.h"

namespace iruka::cpu_backend::spmd {

class GroupAccess {
 public:
  GroupAccess(LaneBuilder& build, LaneValues& values, UnitStrideMemory& unit_stride, RowTester& rows, const Body& body);

  /// Finds the groups of a block before it is written; the builder's mask is the block's.
  void find(llvm::BasicBlock& block);
  /// Whether the load or store belongs to a group, whose wide access then replaces it.
  bool write(llvm::Instruction& instruction);

 private:
  Access access_of_group(const InterleavedGroup& group) const;
  llvm::AAMDNodes aliases_of(const InterleavedGroup& group) const;
  llvm::Value* address_of(const InterleavedGroup& group, const InterleavedGroup::Member& member);
  void read_group(const InterleavedGroup& group);
  void write_group(const InterleavedGroup& group);
  Channels read_windows(const InterleavedGroup& group);
  Channels read_row(const InterleavedGroup& group, const Access& access, const RowTest& row);

  LaneBuilder& build_;
  LaneValues& values_;
  UnitStrideMemory& unit_stride_;
  RowTester& rows_;
  const Body& body_;
  std::vector<InterleavedGroup> groups_;  ///< of the block being written
  llvm::DenseMap<const llvm::Instruction*, const InterleavedGroup*> members_;
};

}  // namespace iruka::cpu_backend::spmd
