// Writes the loops around the widened body: whole vectors, then the rest under a mask; row by row where the body
// divides the index by the length of a row.
#pragma once

#include "backend/cpu/spmd/widener.h"

namespace iruka::cpu_backend::spmd {

class LoopWriter {
 public:
  LoopWriter(const Body& body, bool has_small_index, bool is_written_once);

  /// Replaces the scalar loop by the widened loops. The scalar loop stays for rows that cannot be split; else it
  /// becomes unreachable.
  void write();
  /// The same for a loop of at most W rounds, whose body is written once.
  void write_unit();

 private:
  void write_loops();
  void keep_in_registers();
  struct Row {
    llvm::Value* quotient = nullptr;
    llvm::Value* remainder_offset = nullptr;  ///< the remainder is the counter plus this
  };
  llvm::Value* frozen(llvm::Value* value);
  llvm::Value* can_split(llvm::Value* divisor);
  void write_rows(llvm::Value* divisor);
  void write_range(llvm::Value* begin, llvm::Value* end, const Row& row);
  void write_whole_vectors(llvm::Value*& begin, llvm::Value* end, const Row& row);
  void write_masked(llvm::Value* begin, llvm::Value* end, const Row& row);
  void write_body(llvm::Value* counter, llvm::Value* mask, const Row& row);
  llvm::Value* first_lanes(llvm::Value* count);
  llvm::BasicBlock* new_block(const char* name);
  void finish_loop(llvm::BasicBlock* header, llvm::PHINode* counter, llvm::Value* next);

  const Body& body_;
  const LaneLoop& loop_;
  const bool has_small_index_;  ///< the loop has fewer than 2^31 elements
  const bool is_written_once_;  ///< the body is written once for any mask, not for whole vectors and for the rest
  llvm::IRBuilder<> build_;
  const int lanes_;
  llvm::Value* offset_ = nullptr;  ///< of the divided index from the counter, if any
  llvm::SmallVector<llvm::AllocaInst*, 64> slots_;
};

}  // namespace iruka::cpu_backend::spmd
