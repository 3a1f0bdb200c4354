// The control flow of the body: any reducible flow becomes structured code under masks.
#pragma once

#include "backend/cpu/spmd/instructions.h"
#include "backend/cpu/spmd/slots.h"

namespace iruka::cpu_backend::spmd {

/// Writes every node of a region behind its immediate dominator, behind a jump where no lane may reach it.
class ControlFlow {
 public:
  ControlFlow(LaneBuilder& build, LaneValues& values, const Body& body, const BodyStart& start);

  /// Writes the whole body for the lanes of `mask`.
  void write(llvm::Value* mask) { write_node(body_.loop.body_region, 0, mask); }
  llvm::ArrayRef<llvm::AllocaInst*> slots() const { return slots_.all(); }

 private:
  /// Writes the node and all that it dominates in the region.
  void write_node(const Region& region, unsigned node, llvm::Value* mask);
  void write_block(llvm::BasicBlock* block, llvm::Value* mask);
  void write_loop(const Region& region, unsigned node, llvm::Value* mask);
  void write_child(const Region& region, unsigned child, llvm::Value* mask);
  void prepare_children(const Region& region, unsigned node);
  void write_terminator(llvm::BasicBlock* block);
  /// For the lanes where `condition` (null: all) holds, or those where it does not.
  void write_edge(llvm::BasicBlock* from, llvm::BasicBlock* to, llvm::Value* condition, bool is_opposite);
  void write_phis(llvm::BasicBlock* from, llvm::BasicBlock* to, llvm::Value* condition);
  void load_phis(llvm::BasicBlock* block);
  llvm::AllocaInst* reach_slot(const llvm::BasicBlock* block, bool is_mask);
  llvm::AllocaInst* any_slot(const llvm::BasicBlock* header);  ///< i1: some lane continues with another round
  llvm::AllocaInst* phi_slot(const llvm::PHINode& phi);
  bool is_worth_jumping_over(const Region& region, unsigned node) const;

  LaneBuilder& build_;
  LaneValues& values_;
  const Body& body_;
  Slots slots_;
  InstructionWriter instructions_;
  /// Whether, or with which lanes, a block is reached; of a loop's header, whether or which lanes continue with another
  /// round.
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> reached_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> any_again_;  ///< of divergent loops, by header
  llvm::DenseMap<const llvm::PHINode*, llvm::AllocaInst*> phi_slots_;
};

}  // namespace iruka::cpu_backend::spmd
