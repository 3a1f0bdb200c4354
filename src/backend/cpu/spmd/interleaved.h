// Loads and stores of neighbouring channels: pixels, complex numbers.
#pragma once

#include <vector>

#include "backend/cpu/spmd/shapes.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {

/// Loads, or stores, of one block whose addresses differ by constants: channels of what each lane looks at.
struct InterleavedGroup {
  struct Member {
    llvm::Instruction* instruction = nullptr;
    int64_t channel = 0;  ///< elements from the lane's lowest address
  };
  llvm::Type* type = nullptr;  ///< of an element in memory
  int64_t channels = 0;        ///< from the lowest address to behind the highest
  /// 2, 3 or 4: addresses advance by so many elements from lane to lane, no less than there are channels, and all lanes
  /// are active: one wide access takes the place of all. 0: each lane's channels are loaded for themselves.
  int64_t factor = 0;
  llvm::SmallVector<Member, 4> members;  ///< in the order of the block
};

/// The groups of a block, which all lanes execute where `is_full`. With a factor a load alone is a group too. Loads have
/// nothing between them that may write, and are to be made at the first; stores have nothing between that may touch their
/// memory, cover all channels of a factor, and are to be made at the last.
std::vector<InterleavedGroup> find_interleaved_groups(const llvm::BasicBlock& block, const LaneAnalysis& analysis,
                                                      const PrivateMemory& memory, bool is_full);

}  // namespace iruka::cpu_backend::spmd
