// Loads and stores of neighbouring channels: pixels, complex numbers.
#pragma once

#include <vector>

#include "backend/cpu/spmd/shapes.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {

/// Accesses of one block whose addresses advance by `factor` elements from lane to lane and differ by less than that:
/// one wide access takes the place of all.
struct InterleavedGroup {
  struct Member {
    llvm::Instruction* instruction = nullptr;
    int64_t channel = 0;  ///< elements from the group's lowest address
  };
  llvm::Type* type = nullptr;  ///< of an element in memory
  int64_t factor = 0;          ///< 2, 3 or 4
  int64_t channels = 0;        ///< from the lowest address to behind the highest
  llvm::SmallVector<Member, 4> members;  ///< in the order of the block
};

/// The groups of a block that all lanes execute. A load alone is a group too. Loads of a group have nothing between them
/// that may write, and are to be made at the first; stores have nothing between that may touch their memory, cover all
/// channels, and are to be made at the last.
std::vector<InterleavedGroup> find_interleaved_groups(const llvm::BasicBlock& block, const LaneAnalysis& analysis,
                                                      const PrivateMemory& memory);

}  // namespace iruka::cpu_backend::spmd
