// Writes the loops around the widened body: whole vectors, then the rest under a mask, row by row where rows are known.
#pragma once

#include "backend/cpu/spmd/widener.h"

namespace iruka::cpu_backend::spmd {

/// What the emitter knows of the call.
struct LoopPromises {
  bool small_arrays;  ///< every array has fewer than 2^31 elements
  bool small_index;   ///< so has the loop
};

class LoopWriter {
 public:
  LoopWriter(const LaneLoop& loop, const PrivateMemory& memory, const LaneAnalysis& analysis, const WidenTarget& target,
             LoopPromises promises);

  /// Puts the widened loops in the scalar one's place; the scalar one is left without a way in.
  void write();

 private:
  void write_loops();
  struct Row {
    llvm::Value* quotient = nullptr;
    llvm::Value* remainder_offset = nullptr;  ///< the remainder is the counter plus this
  };
  llvm::Value* can_split(llvm::Value* divisor);
  void write_rows(llvm::Value* divisor);
  void write_range(const LaneAnalysis& analysis, llvm::Value* begin, llvm::Value* end, const Row& row, bool only_masked);
  void write_whole_vectors(const LaneAnalysis& analysis, llvm::Value*& begin, llvm::Value* end, const Row& row);
  void write_masked(const LaneAnalysis& analysis, llvm::Value* begin, llvm::Value* end, const Row& row, bool is_loop);
  void write_body(const LaneAnalysis& analysis, llvm::Value* counter, llvm::Value* mask, const Row& row);
  llvm::Value* first_lanes(llvm::Value* count);
  llvm::BasicBlock* new_block(const char* name);
  void finish_loop(llvm::BasicBlock* header, llvm::PHINode* counter, llvm::Value* next);

  const LaneLoop& loop_;
  const PrivateMemory& memory_;
  const LaneAnalysis& analysis_;
  const WidenTarget& target_;
  LoopPromises promises_;
  llvm::IRBuilder<> build_;
  const int lanes_;
  llvm::SmallVector<llvm::AllocaInst*, 64> slots_;
};

}  // namespace iruka::cpu_backend::spmd
