// Loads and stores of neighbouring channels: pixels, complex numbers.
#pragma once

#include <vector>

#include "backend/cpu/spmd/shapes.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {

/// Loads, or stores, of one block whose addresses differ by constants: the channels of each lane's element.
struct InterleavedGroup {
  struct Member {
    llvm::Instruction* instruction = nullptr;
    int64_t channel = 0;  ///< elements from the lane's lowest address
  };
  llvm::Type* type = nullptr;  ///< of an element in memory
  int64_t channels = 0;        ///< from the lowest address to the highest, inclusive
  /// The elements from lane to lane. 2, 3 or 4, at least the number of channels, where all lanes are active: one wide
  /// access replaces all members. 0: each lane's channels are loaded separately.
  int64_t factor = 0;
  llvm::SmallVector<Member, 4> members;  ///< in program order
};

/// The groups of a block. With `is_full` all lanes execute it. A single load with a factor is a group, too. Nothing
/// between a group's loads may write to memory, and the group is read at its first load. Nothing between its stores may
/// access their memory, they cover all channels of the factor, and the group is written at its last store.
std::vector<InterleavedGroup> find_interleaved_groups(const llvm::BasicBlock& block, const LaneAnalysis& analysis,
                                                      const PrivateMemory& memory, bool is_full);

}  // namespace iruka::cpu_backend::spmd
