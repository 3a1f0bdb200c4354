// Calls by which the threads of a unit act together (jit/kernels/cpu/blocks.h): barriers, votes and shuffles. Each is
// written once for all lanes.
#pragma once

#include <optional>
#include <span>

#include "backend/cpu/spmd/lane_by_lane.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {

enum class BlockCall : uint8_t {
  barrier,     ///< waits for the other units of the block, or of the grid
  unit_fence,  ///< orders memory between the lanes
  ballot,      ///< the bits of the active lanes for which the predicate holds, the same for all
  shuffle,     ///< the value of another lane
};

inline constexpr const char *kBarrierName = "iruka_barrier", *kGridBarrierName = "iruka_grid_barrier";

/// No value for other calls.
std::optional<BlockCall> block_call(const llvm::CallBase& call);

/// A function that a text calls for a unit.
struct BlockFunction {
  const char* name;
  BlockCall kind;
  const char* in_cuda;  ///< for messages
};
std::span<const BlockFunction> block_functions();

/// Tells the optimiser which memory the functions access.
void describe_block_calls(llvm::Module& module);

/// Whether the text calls functions of a warp, which need its threads as lanes.
bool has_exchange(const llvm::Module& module);

class BlockCallWriter {
 public:
  BlockCallWriter(LaneBuilder& build, LaneValues& values, LaneByLane& lane_by_lane)
      : build_(build), values_(values), lane_by_lane_(lane_by_lane) {}

  void write(llvm::CallInst& call, BlockCall kind);

 private:
  void write_ballot(llvm::CallInst& call);
  void write_shuffle(llvm::CallInst& call);

  LaneBuilder& build_;
  LaneValues& values_;
  LaneByLane& lane_by_lane_;
};

}  // namespace iruka::cpu_backend::spmd
