#include "backend/cpu/spmd/control_flow.h"

#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

ControlFlow::ControlFlow(LaneBuilder& build, LaneValues& values, const Body& body, const BodyStart& start)
    : build_(build),
      values_(values),
      body_(body),
      slots_(build, body.target),
      instructions_(build, values, body, start) {}

llvm::AllocaInst* ControlFlow::reach_slot(const BasicBlock* block, bool is_mask) {
  llvm::AllocaInst*& slot = reached_[block];
  if (!slot) slot = slots_.make(is_mask ? build_.mask_type() : build_.getInt1Ty());
  return slot;
}

llvm::AllocaInst* ControlFlow::any_slot(const BasicBlock* header) {
  llvm::AllocaInst*& slot = any_again_[header];
  if (!slot) slot = slots_.make(build_.getInt1Ty());
  return slot;
}

llvm::AllocaInst* ControlFlow::phi_slot(const llvm::PHINode& phi) {
  llvm::AllocaInst*& slot = phi_slots_[&phi];
  if (!slot) slot = slots_.make(body_.analysis.is_varying(&phi) ? build_.widened(phi.getType()) : phi.getType());
  return slot;
}

void ControlFlow::write_block(BasicBlock* block, Value* mask) {
  build_.set_mask(mask);
  load_phis(block);
  instructions_.write_block(*block);
}

void ControlFlow::write_node(const Region& region, unsigned node, Value* mask) {
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

/// At the start of a round no child is reached, and blends start from zero. Other phis start as poison, so that no
/// register holds their value of the last round.
void ControlFlow::prepare_children(const Region& region, unsigned node) {
  for (unsigned child : region.nodes[node].children) {
    const BasicBlock* block = region.nodes[child].block;
    const Reach reach = body_.analysis.reach(block);
    if (reach == Reach::masked) slots_.store(llvm::Constant::getNullValue(build_.mask_type()), reach_slot(block, true));
    if (reach == Reach::uniform) slots_.store(build_.getFalse(), reach_slot(block, false));
    for (const llvm::PHINode& phi : block->phis()) {
      llvm::AllocaInst* slot = phi_slot(phi);
      llvm::Type* type = slot->getAllocatedType();
      const bool is_blend = body_.analysis.is_blended(block) && body_.analysis.is_varying(&phi);
      build_.CreateStore(is_blend ? llvm::Constant::getNullValue(type) : llvm::PoisonValue::get(type), slot);
    }
  }
}

void ControlFlow::write_child(const Region& region, unsigned child, Value* mask) {
  const BasicBlock* block = region.nodes[child].block;
  const Reach reach = body_.analysis.reach(block);
  if (reach == Reach::always) return write_node(region, child, mask);
  Value* reached = slots_.load(reach_slot(block, reach == Reach::masked),
                               reach == Reach::masked ? build_.mask_type() : build_.getInt1Ty());
  if (reach == Reach::masked) mask = reached;
  const bool was_guarded = build_.is_guarded();
  if (reach == Reach::masked && !is_worth_jumping_over(region, child)) {
    build_.set_guarded(false);
    write_node(region, child, mask);
    build_.set_guarded(was_guarded);
    return;
  }
  BasicBlock* inside = build_.new_block("side");
  BasicBlock* behind = build_.new_block("behind");
  build_.CreateCondBr(reach == Reach::masked ? build_.any(reached) : reached, inside, behind);
  build_.SetInsertPoint(inside);
  if (reach == Reach::masked) build_.set_guarded(true);
  write_node(region, child, mask);
  build_.set_guarded(was_guarded);
  build_.go_to(behind);
}

void ControlFlow::write_loop(const Region& region, unsigned node, Value* mask) {
  const Node& now = region.nodes[node];
  const bool divergent = body_.analysis.is_divergent(now.loop);
  prepare_children(region, node);
  llvm::AllocaInst* again = reach_slot(now.block, divergent);
  if (divergent) slots_.store(mask ? mask : build_.full_mask(), again);
  BasicBlock* round = build_.new_block("round");
  BasicBlock* behind = build_.new_block("behind");
  build_.go_to(round);
  Value* alive = divergent ? slots_.load(again, build_.mask_type()) : mask;
  // Whether a lane continues with another round is stored where it is computed, so that later passes find the exit of a
  // round early.
  llvm::AllocaInst* more = divergent ? any_slot(now.block) : again;
  slots_.store(build_.getFalse(), more);
  write_node(body_.loop.region(now.loop), 0, alive);
  build_.CreateCondBr(slots_.load(more, build_.getInt1Ty()), round, behind);
  build_.SetInsertPoint(behind);
}

void ControlFlow::write_terminator(BasicBlock* block) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (!branch) return;  // unreachable: these lanes have ended
  if (branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) {
    return write_edge(block, branch->getSuccessor(0), nullptr, false);
  }
  if (!body_.analysis.is_uniform(branch->getCondition())) {
    // An inactive lane may hold poison, which would spread; and no lane may take both ways.
    Value* condition = build_.CreateFreeze(values_.vector(branch->getCondition()));
    write_edge(block, branch->getSuccessor(0), condition, false);
    write_edge(block, branch->getSuccessor(1), condition, true);
    return;
  }
  BasicBlock* sides[] = {build_.new_block("yes"), build_.new_block("no")};
  BasicBlock* behind = build_.new_block("chosen");
  build_.CreateCondBr(values_.scalar(branch->getCondition()), sides[0], sides[1]);
  for (unsigned k = 0; k < 2; ++k) {
    build_.SetInsertPoint(sides[k]);
    write_edge(block, branch->getSuccessor(k), nullptr, false);
    build_.CreateBr(behind);
  }
  build_.SetInsertPoint(behind);
}

void ControlFlow::write_edge(BasicBlock* from, BasicBlock* to, Value* condition, bool is_opposite) {
  if (!body_.loop.contains(to) || to == body_.loop.latch) return;
  if (is_opposite) condition = build_.CreateNot(condition);
  write_phis(from, to, condition);
  const llvm::Loop* loop = body_.loop.loops->getLoopFor(to);
  const bool is_back_edge = loop->getHeader() == to && loop->contains(from);
  const Reach reach =
      is_back_edge ? (body_.analysis.is_divergent(loop) ? Reach::masked : Reach::uniform) : body_.analysis.reach(to);
  if (reach == Reach::always) return;
  llvm::AllocaInst* slot = reach_slot(to, reach == Reach::masked);
  if (reach == Reach::uniform) {
    slots_.store(build_.getTrue(), slot);
  } else {
    Value* lanes = build_.mask_and(build_.mask(), condition);
    if (!lanes) lanes = build_.full_mask();
    slots_.store(is_back_edge ? lanes : build_.CreateOr(slots_.load(slot, build_.mask_type()), lanes), slot);
    if (is_back_edge) slots_.store(build_.any(lanes), any_slot(to));
  }
}

/// Stores in the phis' slots the values of this edge, for its lanes alone where lanes come by different edges.
void ControlFlow::write_phis(BasicBlock* from, BasicBlock* to, Value* condition) {
  const llvm::Loop* loop = body_.loop.loops->getLoopFor(to);
  const bool is_header = loop->getHeader() == to;
  const bool blended = !is_header && body_.analysis.is_blended(to);
  // A phi may be another's value on this edge: read all before any is written.
  llvm::SmallVector<std::pair<llvm::AllocaInst*, Value*>, 8> values;
  for (llvm::PHINode& phi : to->phis()) {
    Value* value = phi.getIncomingValueForBlock(from);
    llvm::AllocaInst* slot = phi_slot(phi);
    if (!body_.analysis.is_varying(&phi)) {
      values.emplace_back(slot, values_.scalar(value));
      continue;
    }
    Value* lanes = values_.vector(value);
    if (blended)
      lanes = build_.blend(build_.mask_and(build_.mask(), condition), lanes, slots_.load(slot, lanes->getType()));
    values.emplace_back(slot, lanes);
  }
  for (const auto& [slot, value] : values) slots_.store(value, slot);
}

void ControlFlow::load_phis(BasicBlock* block) {
  for (llvm::PHINode& phi : block->phis()) {
    llvm::AllocaInst* slot = phi_slot(phi);
    if (body_.analysis.is_varying(&phi))
      values_.set_vector(&phi, slots_.load(slot, build_.widened(phi.getType())));
    else
      values_.set_scalar(&phi, slots_.load(slot, phi.getType()));
  }
}

/// A jump must save more than its test and branch cost; accesses to memory and calls need an active lane in any case.
bool ControlFlow::is_worth_jumping_over(const Region& region, unsigned node) const {
  constexpr unsigned kCheap = 10;
  const Node& now = region.nodes[node];
  if (now.loop) return true;
  unsigned cost = 0;
  for (const llvm::Instruction& instruction : *now.block) {
    if (llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator() || instruction.isLifetimeStartOrEnd())
      continue;
    if (instruction.mayReadOrWriteMemory() || llvm::isa<llvm::CallBase>(instruction)) return true;
    if (body_.analysis.is_varying(&instruction) && ++cost > kCheap) return true;
  }
  return llvm::any_of(now.children, [&](unsigned child) { return is_worth_jumping_over(region, child); });
}

}  // namespace iruka::cpu_backend::spmd
