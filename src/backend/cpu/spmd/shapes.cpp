#include "backend/cpu/spmd/shapes.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "backend/cpu/spmd/block_calls.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Support/MathExtras.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// The shape of a value that is one or the other by a uniform choice.
Shape join(Shape a, Shape b) {
  if (a.kind == Shape::Kind::unknown) return b;
  if (b.kind == Shape::Kind::unknown || a == b) return a;
  if (a.kind == b.kind && a.stride == b.stride) return {a.kind, true, a.stride};
  return Shape::varying();
}

/// A stride in a type of `bits`, where numbers wrap around.
int64_t wrapped(int64_t stride, unsigned bits) { return bits >= 64 ? stride : llvm::SignExtend64(stride, bits); }

bool is_number(const Value* value, int64_t& number) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (!constant || constant->getBitWidth() > 64) return false;
  number = constant->getSExtValue();
  return true;
}

/// The nodes that only some lanes of `from` reach, up to where all meet again.
llvm::BitVector influence(const Region& region, unsigned from) {
  llvm::BitVector reached(static_cast<unsigned>(region.nodes.size()));
  llvm::SmallVector<unsigned, 16> work;
  work.append(region.nodes[from].successors.begin(), region.nodes[from].successors.end());
  while (!work.empty()) {
    const unsigned next = work.pop_back_val();
    if (next == Node::kOutside || reached.test(next) || region.nodes[from].post_dominators.test(next)) continue;
    reached.set(next);
    work.append(region.nodes[next].successors.begin(), region.nodes[next].successors.end());
  }
  return reached;
}

}  // namespace

Shape Shape::linear(int64_t stride, bool only_as_address) {
  if (stride == 0) return uniform();
  return {Kind::linear, only_as_address, stride};
}

LaneAnalysis::LaneAnalysis(const LaneLoop& loop, const PrivateMemory& memory, RowSplit split, int lanes,
                           bool small_arrays)
    : loop_(loop), memory_(memory), split_(std::move(split)), lanes_(lanes), small_arrays_(small_arrays) {
  do {
    while (update_shapes()) {
    }
  } while (update_control());
}

Shape LaneAnalysis::shape(const Value* value) const {
  if (value == loop_.counter) return Shape::linear(1);
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(value)) {
    const PrivateLayout* layout = memory_.find(local);
    return layout ? Shape::linear(layout->lane_stride()) : Shape::uniform();
  }
  if (!loop_.contains(value)) return Shape::uniform();
  return shapes_.lookup(value);
}

Reach LaneAnalysis::reach(const BasicBlock* block) const { return reaches_.lookup(block); }

bool LaneAnalysis::has_varying_branch(const BasicBlock* block) const {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  return branch && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1) &&
         shape(branch->getCondition()).is_varying();
}

bool LaneAnalysis::update_shapes() {
  bool changed = false;
  const auto update = [&](const BasicBlock* block) {
    for (const Instruction& instruction : *block) {
      if (instruction.getType()->isVoidTy()) continue;
      const Shape old = shapes_.lookup(&instruction);
      if (old.is_varying()) continue;
      Shape now = transfer(instruction);
      if (now.kind < old.kind) now = old;
      if (old.is_linear() && now.is_linear()) now = join(old, now);
      if (now == old) continue;
      shapes_[&instruction] = now;
      changed = true;
    }
  };
  for (const BasicBlock* block : loop_.loop->blocks()) {
    if (loop_.contains(block)) update(block);
  }
  return changed;
}

Shape LaneAnalysis::transfer(const Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return transfer_phi(*phi);
  if (split_.quotients.contains(&instruction)) return Shape::uniform();
  if (split_.remainders.contains(&instruction)) return Shape::linear(1);
  bool all_uniform = true;
  for (const Value* operand : instruction.operands()) {
    if (llvm::isa<BasicBlock>(operand) || llvm::isa<llvm::MetadataAsValue>(operand)) continue;
    const Shape shape = this->shape(operand);
    if (shape.kind == Shape::Kind::unknown) return {};
    all_uniform &= shape.is_uniform();
  }
  switch (instruction.getOpcode()) {
    case Instruction::Load:
      return all_uniform && !instruction.isVolatile() && !memory_.may_be_private(instruction.getOperand(0))
                 ? Shape::uniform()
                 : Shape::varying();
    case Instruction::Call: {
      const auto& call = llvm::cast<llvm::CallBase>(instruction);
      if (block_call(call) == BlockCall::ballot) return Shape::uniform();
      return all_uniform && !call.mayHaveSideEffects() && (call.doesNotAccessMemory() || call.onlyReadsMemory())
                 ? Shape::uniform()
                 : Shape::varying();
    }
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
    case Instruction::VAArg: return Shape::varying();
    default: break;
  }
  if (all_uniform) return Shape::uniform();
  switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::Shl:
    case Instruction::Or:
    case Instruction::Xor: return transfer_binary(instruction);
    case Instruction::Trunc:
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
    case Instruction::BitCast: return transfer_cast(instruction);
    case Instruction::AShr: return transfer_sign_extension(instruction);
    case Instruction::And: return transfer_zero_extension(instruction);
    case Instruction::Freeze: return shape(instruction.getOperand(0));
    case Instruction::GetElementPtr: return transfer_address(instruction);
    case Instruction::Select: {
      if (!shape(instruction.getOperand(0)).is_uniform()) return Shape::varying();
      return join(shape(instruction.getOperand(1)), shape(instruction.getOperand(2)));
    }
    default: return Shape::varying();
  }
}

Shape LaneAnalysis::transfer_binary(const Instruction& instruction) const {
  if (!instruction.getType()->isIntegerTy() || instruction.getType()->getIntegerBitWidth() > 64)
    return Shape::varying();
  const Shape a = shape(instruction.getOperand(0)), b = shape(instruction.getOperand(1));
  if (a.is_varying() || b.is_varying()) return Shape::varying();
  const unsigned bits = instruction.getType()->getIntegerBitWidth();
  const bool only_as_address = a.only_as_address || b.only_as_address;
  const auto linear = [&](uint64_t stride) {
    return Shape::linear(wrapped(static_cast<int64_t>(stride), bits), only_as_address);
  };
  const auto step = [](Shape shape) { return static_cast<uint64_t>(shape.stride); };
  int64_t number = 0;
  switch (instruction.getOpcode()) {
    case Instruction::Add: return linear(step(a) + step(b));
    case Instruction::Sub: return linear(step(a) - step(b));
    case Instruction::Mul:
      if (is_number(instruction.getOperand(1), number)) return linear(step(a) * static_cast<uint64_t>(number));
      if (is_number(instruction.getOperand(0), number)) return linear(step(b) * static_cast<uint64_t>(number));
      return Shape::varying();
    case Instruction::Shl:
      if (is_number(instruction.getOperand(1), number) && number >= 0 && number < bits)
        return linear(step(a) << number);
      return Shape::varying();
    case Instruction::Or:
      // This is an addition only within a lane: the bits of different lanes may overlap.
      if (llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint()) return linear(step(a) + step(b));
      return Shape::varying();
    case Instruction::Xor:
      if (is_number(instruction.getOperand(1), number) && number == -1) return linear(0 - step(a));
      return Shape::varying();
    default: return Shape::varying();
  }
}

Shape LaneAnalysis::transfer_cast(const Instruction& instruction) const {
  const Value* operand = instruction.getOperand(0);
  const Shape from = shape(operand);
  if (!from.is_linear()) return Shape::varying();
  llvm::Type* type = instruction.getType();
  switch (instruction.getOpcode()) {
    case Instruction::Trunc:
      if (type->getIntegerBitWidth() < 8) return Shape::varying();
      return Shape::linear(wrapped(from.stride, type->getIntegerBitWidth()), from.only_as_address);
    case Instruction::SExt:
    case Instruction::ZExt: {
      if (type->getIntegerBitWidth() > 64) return Shape::varying();
      // A remainder stays within its row, so that it cannot wrap.
      if (split_.remainders.contains(llvm::dyn_cast<Instruction>(operand))) return from;
      // If every array has fewer than 2^31 elements, lanes on both sides of a wrap cannot all be inside one array.
      if (!small_arrays_ || operand->getType()->getIntegerBitWidth() < 32) return Shape::varying();
      return Shape::linear(from.stride, true);
    }
    case Instruction::PtrToInt: return type->isIntegerTy(64) ? from : Shape::varying();
    case Instruction::IntToPtr: return operand->getType()->isIntegerTy(64) ? from : Shape::varying();
    default: return Shape::varying();
  }
}

/// LLVM's form of a scaled extension from 32 bits: ((x << 32) + c) >> k. Only the upper halves of the lanes differ, and
/// they may wrap as in transfer_cast.
Shape LaneAnalysis::transfer_sign_extension(const Instruction& instruction) const {
  const Shape from = shape(instruction.getOperand(0));
  int64_t right = 0;
  if (!small_arrays_ || !instruction.getType()->isIntegerTy(64) || !is_number(instruction.getOperand(1), right))
    return Shape::varying();
  if (!from.is_linear() || (from.stride & 0xFFFFFFFF) != 0 || right < 0 || right > 32) return Shape::varying();
  return Shape::linear((from.stride >> 32) * (int64_t{1} << (32 - right)), true);
}

/// LLVM's form of a scaled extension from 32 bits without a sign: x & mask, where the mask takes nothing away
/// below. Lanes may wrap as in transfer_cast.
Shape LaneAnalysis::transfer_zero_extension(const Instruction& instruction) const {
  const Shape from = shape(instruction.getOperand(0));
  const auto* mask = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  if (!small_arrays_ || !instruction.getType()->isIntegerTy(64) || !from.is_linear() || !mask) return Shape::varying();
  unsigned lowest = 0, ones = 0;
  if (!mask->getValue().isShiftedMask(lowest, ones) || ones < 32) return Shape::varying();
  const llvm::KnownBits known = llvm::computeKnownBits(instruction.getOperand(0), instruction.getDataLayout());
  // Only the bits of the mask count, so that LLVM may have made a negative step a large one.
  return known.countMinTrailingZeros() >= lowest ? Shape::linear(wrapped(from.stride, lowest + ones), true)
                                                 : Shape::varying();
}

Shape LaneAnalysis::transfer_address(const Instruction& instruction) const {
  const auto& address = llvm::cast<llvm::GetElementPtrInst>(instruction);
  const Shape base = shape(address.getPointerOperand());
  if (base.is_varying()) return Shape::varying();
  const llvm::DataLayout& layout = instruction.getDataLayout();
  const int64_t spread = memory_.is_side_by_side(&address) ? lanes_ : 1;
  uint64_t stride = static_cast<uint64_t>(base.stride);
  for (auto step = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); step != end; ++step) {
    const Shape index = shape(step.getOperand());
    if (index.is_uniform()) continue;
    if (!index.is_linear() || !step.getOperand()->getType()->isIntegerTy(64)) return Shape::varying();
    const auto size = static_cast<int64_t>(step.getSequentialElementStride(layout).getFixedValue());
    stride += static_cast<uint64_t>(index.stride) * static_cast<uint64_t>(size * spread);
  }
  return Shape::linear(static_cast<int64_t>(stride));
}

Shape LaneAnalysis::transfer_phi(const llvm::PHINode& phi) const {
  const auto* loop = loop_.loops->getLoopFor(phi.getParent());
  if (const Value* only = phi.hasConstantValue()) {
    const auto* instruction = llvm::dyn_cast<Instruction>(only);
    if (!instruction || !loop_.contains(only) || loop_.loops->getLoopFor(instruction->getParent())->contains(loop)) {
      return shape(only);
    }
  }
  if (is_blended(phi.getParent())) return Shape::varying();
  Shape result;
  for (const Value* value : phi.incoming_values()) result = join(result, shape(value));
  return result.only_as_address ? Shape::varying() : result;
}

bool LaneAnalysis::leaves_partially(const Region& region, const BasicBlock* from) const {
  if (has_varying_branch(from)) return true;
  const llvm::Loop* loop = loop_.loops->getLoopFor(from);
  const BasicBlock* node = from;
  while (true) {
    if (partial_.contains(node) && node != loop->getHeader()) return true;
    if (loop == region.loop) return false;
    if (is_divergent(loop)) return true;
    node = loop->getHeader();
    loop = loop->getParentLoop();
  }
}

void LaneAnalysis::update_region(const Region& region) {
  const auto count = static_cast<unsigned>(region.nodes.size());
  llvm::SmallVector<std::pair<unsigned, llvm::BitVector>, 8> partings;
  for (unsigned k = 0; k < count; ++k) {
    const Node& node = region.nodes[k];
    const bool parts =
        node.loop ? is_divergent(node.loop) && node.successors.size() > 1 : has_varying_branch(node.block);
    if (parts) partings.emplace_back(k, influence(region, k));
  }
  for (const auto& [from, reached] : partings) {
    for (unsigned k : reached.set_bits()) partial_.insert(region.nodes[k].block);
  }
  for (unsigned k = 1; k < count; ++k) {
    const Node& node = region.nodes[k];
    const auto is_parted = [&](unsigned other) {
      return llvm::any_of(partings, [&](const auto& parting) {
        return region.dominates(node.dominator, parting.first) && parting.second.test(other);
      });
    };
    const bool always = region.nodes[node.dominator].post_dominators.test(k);
    reaches_[node.block] = always ? Reach::always : is_parted(k) ? Reach::masked : Reach::uniform;
    for (const BasicBlock* from : llvm::predecessors(node.block)) {
      const auto found = region.index.find(from);
      if (found == region.index.end() || (node.loop && node.loop->contains(from))) continue;
      const unsigned other = found->second;
      const Node& source = region.nodes[other];
      const bool parts = source.loop ? is_divergent(source.loop) : has_varying_branch(source.block);
      if (parts || is_parted(other)) blended_.insert(node.block);
    }
  }
}

bool LaneAnalysis::update_control() {
  const size_t blended = blended_.size(), divergent = divergent_loops_.size();
  llvm::SmallVector<llvm::Loop*, 8> inner = loop_.loop->getLoopsInPreorder();
  for (llvm::Loop* loop : llvm::reverse(inner)) {
    const Region& region = loop_.region(loop);
    update_region(region);
    if (loop == loop_.loop) continue;
    llvm::SmallVector<llvm::Loop::Edge, 8> exits;
    loop->getExitEdges(exits);
    for (const auto& [from, to] : exits) {
      if (leaves_partially(region, from)) divergent_loops_.insert(loop);
    }
  }
  return blended != blended_.size() || divergent != divergent_loops_.size();
}

}  // namespace iruka::cpu_backend::spmd
