#include "backend/cpu/spmd/widener.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

BasicBlock* Widener::new_block(const char* name) {
  return BasicBlock::Create(function_.getContext(), name, &function_, loop_.exit);
}

void Widener::go_to(BasicBlock* block) {
  build_.CreateBr(block);
  build_.SetInsertPoint(block);
}

llvm::AllocaInst* Widener::reach_slot(const BasicBlock* block, bool is_mask) {
  llvm::AllocaInst*& slot = reached_[block];
  if (!slot) {
    slot = new_slot(is_mask ? stored_type(mask_type()) : build_.getInt1Ty());
    promotable_.push_back(slot);
  }
  return slot;
}

llvm::AllocaInst* Widener::any_slot(const BasicBlock* header) {
  llvm::AllocaInst*& slot = any_again_[header];
  if (!slot) {
    slot = new_slot(build_.getInt1Ty());
    promotable_.push_back(slot);
  }
  return slot;
}

llvm::AllocaInst* Widener::phi_slot(const llvm::PHINode& phi) {
  llvm::AllocaInst*& slot = phi_slots_[&phi];
  if (!slot) {
    llvm::Type* type = phi.getType();
    slot = new_slot(analysis_.is_varying(&phi) ? stored_type(widened(type)) : type);
    promotable_.push_back(slot);
  }
  return slot;
}

void Widener::write_node(const Region& region, unsigned node, Value* mask) {
  const Node& now = region.nodes[node];
  if (now.loop) {
    write_loop(region, node, mask);
  } else {
    write_block(now.block, mask);
    prepare_children(region, node);
    write_terminator(now.block);
  }
  for (unsigned child : now.children) write_child(region, child, mask);
}

void Widener::write_block(BasicBlock* block, Value* mask) {
  mask_ = mask;
  load_phis(block);
  find_groups(*block);
  for (llvm::Instruction& instruction : *block) {
    if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator()) write_instruction(instruction);
  }
}

/// Not reached yet, in this round; and blends begin with nothing. That other phis forget the last round's value is only
/// said for the sake of registers.
void Widener::prepare_children(const Region& region, unsigned node) {
  for (unsigned child : region.nodes[node].children) {
    const BasicBlock* block = region.nodes[child].block;
    const Reach reach = analysis_.reach(block);
    if (reach == Reach::masked) store(llvm::Constant::getNullValue(mask_type()), reach_slot(block, true));
    if (reach == Reach::uniform) store(build_.getFalse(), reach_slot(block, false));
    for (const llvm::PHINode& phi : block->phis()) {
      llvm::AllocaInst* slot = phi_slot(phi);
      llvm::Type* type = slot->getAllocatedType();
      const bool is_blend = analysis_.is_blended(block) && analysis_.is_varying(&phi);
      build_.CreateStore(is_blend ? llvm::Constant::getNullValue(type) : llvm::PoisonValue::get(type), slot);
    }
  }
}

void Widener::write_child(const Region& region, unsigned child, Value* mask) {
  const BasicBlock* block = region.nodes[child].block;
  const Reach reach = analysis_.reach(block);
  if (reach == Reach::always) return write_node(region, child, mask);
  Value* reached = load(reach_slot(block, reach == Reach::masked), reach == Reach::masked ? mask_type() : build_.getInt1Ty());
  if (reach == Reach::masked) mask = reached;
  const bool was_guarded = is_guarded_;
  if (reach == Reach::masked && !is_worth_jumping_over(region, child)) {
    is_guarded_ = false;
    write_node(region, child, mask);
    is_guarded_ = was_guarded;
    return;
  }
  BasicBlock* inside = new_block("side");
  BasicBlock* behind = new_block("behind");
  build_.CreateCondBr(reach == Reach::masked ? any(reached) : reached, inside, behind);
  build_.SetInsertPoint(inside);
  if (reach == Reach::masked) is_guarded_ = true;
  write_node(region, child, mask);
  is_guarded_ = was_guarded;
  go_to(behind);
}

void Widener::write_loop(const Region& region, unsigned node, Value* mask) {
  const Node& now = region.nodes[node];
  const bool divergent = analysis_.is_divergent(now.loop);
  prepare_children(region, node);
  llvm::AllocaInst* again = reach_slot(now.block, divergent);
  if (divergent) store(mask ? mask : full_mask(), again);
  BasicBlock* round = new_block("round");
  BasicBlock* behind = new_block("behind");
  go_to(round);
  Value* alive = divergent ? load(again, mask_type()) : mask;
  // That a lane is left is said where it is known, so that later passes find the way out of a round early.
  llvm::AllocaInst* more = divergent ? any_slot(now.block) : again;
  store(build_.getFalse(), more);
  write_node(loop_.region(now.loop), 0, alive);
  build_.CreateCondBr(load(more, build_.getInt1Ty()), round, behind);
  build_.SetInsertPoint(behind);
}

void Widener::write_terminator(BasicBlock* block) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (!branch) return;  // unreachable: these lanes are done
  if (branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) {
    return write_edge(block, branch->getSuccessor(0), nullptr, false);
  }
  if (!analysis_.is_uniform(branch->getCondition())) {
    // A lane that is not active may hold poison, which would spread; and one lane must not take both ways.
    Value* condition = build_.CreateFreeze(vector(branch->getCondition()));
    write_edge(block, branch->getSuccessor(0), condition, false);
    write_edge(block, branch->getSuccessor(1), condition, true);
    return;
  }
  BasicBlock* sides[] = {new_block("yes"), new_block("no")};
  BasicBlock* behind = new_block("chosen");
  build_.CreateCondBr(scalar(branch->getCondition()), sides[0], sides[1]);
  for (unsigned k = 0; k < 2; ++k) {
    build_.SetInsertPoint(sides[k]);
    write_edge(block, branch->getSuccessor(k), nullptr, false);
    build_.CreateBr(behind);
  }
  build_.SetInsertPoint(behind);
}

void Widener::write_edge(BasicBlock* from, BasicBlock* to, Value* condition, bool is_opposite) {
  if (!loop_.contains(to) || to == loop_.latch) return;
  if (is_opposite) condition = build_.CreateNot(condition);
  write_phis(from, to, condition);
  const llvm::Loop* loop = loop_.loops->getLoopFor(to);
  const bool is_back_edge = loop->getHeader() == to && loop->contains(from);
  const Reach reach = is_back_edge ? (analysis_.is_divergent(loop) ? Reach::masked : Reach::uniform) : analysis_.reach(to);
  if (reach == Reach::always) return;
  llvm::AllocaInst* slot = reach_slot(to, reach == Reach::masked);
  if (reach == Reach::uniform) {
    store(build_.getTrue(), slot);
  } else {
    Value* lanes = mask_and(mask_, condition);
    if (!lanes) lanes = full_mask();
    store(is_back_edge ? lanes : build_.CreateOr(load(slot, mask_type()), lanes), slot);
    if (is_back_edge) store(any(lanes), any_slot(to));
  }
}

/// A phi's slot takes the value of the last edge that was passed, for each lane where lanes come by different edges.
void Widener::write_phis(BasicBlock* from, BasicBlock* to, Value* condition) {
  const llvm::Loop* loop = loop_.loops->getLoopFor(to);
  const bool is_header = loop->getHeader() == to;
  const bool blended = !is_header && analysis_.is_blended(to);
  // A phi may be another's value on this edge: read all before any is written.
  llvm::SmallVector<std::pair<llvm::AllocaInst*, Value*>, 8> values;
  for (llvm::PHINode& phi : to->phis()) {
    Value* value = phi.getIncomingValueForBlock(from);
    llvm::AllocaInst* slot = phi_slot(phi);
    if (!analysis_.is_varying(&phi)) {
      values.emplace_back(slot, scalar(value));
      continue;
    }
    Value* lanes = vector(value);
    if (blended) lanes = blend(mask_and(mask_, condition), lanes, load(slot, lanes->getType()));
    values.emplace_back(slot, lanes);
  }
  for (const auto& [slot, value] : values) store(value, slot);
}

void Widener::load_phis(BasicBlock* block) {
  for (llvm::PHINode& phi : block->phis()) {
    llvm::AllocaInst* slot = phi_slot(phi);
    if (analysis_.is_varying(&phi)) set_vector(&phi, load(slot, widened(phi.getType())));
    else set_scalar(&phi, load(slot, phi.getType()));
  }
}

/// What a jump saves must be more than the test and the branch, unless the code needs an active lane.
bool Widener::is_worth_jumping_over(const Region& region, unsigned node) const {
  constexpr unsigned kCheap = 10;
  const Node& now = region.nodes[node];
  if (now.loop) return true;
  unsigned cost = 0;
  for (const llvm::Instruction& instruction : *now.block) {
    if (llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator() || instruction.isLifetimeStartOrEnd()) continue;
    if (instruction.mayReadOrWriteMemory() || llvm::isa<llvm::CallBase>(instruction)) return true;
    if (analysis_.is_varying(&instruction) && ++cost > kCheap) return true;
  }
  return llvm::any_of(now.children, [&](unsigned child) { return is_worth_jumping_over(region, child); });
}

}  // namespace iruka::cpu_backend::spmd
