#include "backend/cpu/spmd/lane_loop.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

Refusal refuse(std::string reason, const Instruction& where) { return {std::move(reason), where.getDebugLoc()}; }

/// The step counter + 1 in the latch. An optimisation may have merged it with an i + 1 of the body, which can be inside
/// of a loop.
bool is_step(const Value* value, const llvm::PHINode& counter) {
  while (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) {
    if (!(value = phi->hasConstantValue())) return false;
  }
  const auto* add = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!add || add->getOpcode() != Instruction::Add || add->getOperand(0) != &counter) return false;
  const auto* one = llvm::dyn_cast<llvm::ConstantInt>(add->getOperand(1));
  return one && one->isOne();
}

/// The bound of `counter < end` that keeps the loop going, or null.
Value* loop_bound(const llvm::BranchInst& branch, const llvm::Loop& loop, const llvm::PHINode& counter) {
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch.getCondition());
  if (!compare) return nullptr;
  auto predicate = compare->getPredicate();
  Value* bound = compare->getOperand(1);
  if (bound == &counter) {
    bound = compare->getOperand(0);
    predicate = compare->getSwappedPredicate();
  } else if (compare->getOperand(0) != &counter) {
    return nullptr;
  }
  if (!loop.contains(branch.getSuccessor(0))) predicate = llvm::ICmpInst::getInversePredicate(predicate);
  const bool is_below = predicate == llvm::ICmpInst::ICMP_SLT || predicate == llvm::ICmpInst::ICMP_ULT ||
                        predicate == llvm::ICmpInst::ICMP_NE;
  return is_below && loop.isLoopInvariant(bound) ? bound : nullptr;
}

Refusal read_header(LaneLoop& lane) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(lane.header->getTerminator());
  if (!branch || !branch->isConditional())
    return refuse("the loop over the elements has no plain test", *lane.header->getTerminator());
  for (llvm::PHINode& phi : lane.header->phis()) {
    if (is_step(phi.getIncomingValueForBlock(lane.loop->getLoopLatch()), phi) && phi.getType()->isIntegerTy(64) &&
        !lane.counter) {
      lane.counter = &phi;
    } else {
      return refuse("a variable of loop_prep carries a value from one element to the next", phi);
    }
  }
  if (!lane.counter) return refuse("the loop over the elements has no counter", *branch);
  lane.end = loop_bound(*branch, *lane.loop, *lane.counter);
  lane.begin = lane.counter->getIncomingValueForBlock(lane.preheader);
  if (!lane.end) return refuse("the loop over the elements has no plain test", *branch);
  for (const Instruction& instruction : *lane.header) {
    const bool expected =
        llvm::isa<llvm::PHINode>(instruction) || &instruction == branch || &instruction == branch->getCondition();
    if (!expected && !instruction.isDebugOrPseudoInst())
      return refuse("the loop over the elements has no plain test", instruction);
  }
  return {};
}

bool has_vector_form(llvm::Type* type) {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type))
    return llvm::all_of(structure->elements(), has_vector_form);
  return type->isVoidTy() || type->isTokenTy() || llvm::VectorType::isValidElementType(type);
}

Refusal check_call(const llvm::CallBase& call) {
  if (call.isInlineAsm()) return refuse("inline assembly has no vector form", call);
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return refuse("a call through a pointer cannot be widened", call);
  if (!callee->isDeclaration())
    return refuse("a function that cannot be inlined (because it is recursive or variadic, say) cannot be widened",
                  call);
  if (callee->isIntrinsic() && !call.getType()->isVoidTy()) return {};
  if (llvm::isa<llvm::MemIntrinsic>(call)) return refuse("a block of memory of unknown length is set or copied", call);
  return {};
}

/// The value without casts. A cast does not change an element's row while the index fits the narrowest type, of `bits`.
const Value* without_casts(const Value* value, unsigned& bits) {
  bits = value->getType()->getIntegerBitWidth();
  while (const auto* instruction = llvm::dyn_cast<Instruction>(value)) {
    const unsigned opcode = instruction->getOpcode();
    const bool is_cast = opcode == Instruction::Trunc || opcode == Instruction::SExt || opcode == Instruction::ZExt ||
                         opcode == Instruction::Freeze;
    if (!is_cast) break;
    value = instruction->getOperand(0);
    bits = std::min(bits, value->getType()->getIntegerBitWidth());
  }
  return value;
}

struct Division {
  unsigned opcode = 0;
  const Value* dividend = nullptr;
  Value* divisor = nullptr;
};

Division as_division(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    const auto opcode = division_opcode(*call);
    return opcode ? Division{*opcode, call->getArgOperand(0), call->getArgOperand(1)} : Division{};
  }
  switch (instruction.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem: return {instruction.getOpcode(), instruction.getOperand(0), instruction.getOperand(1)};
    default: return {};
  }
}

/// Whether `value` is the counter plus a loop-invariant value, which becomes `offset` (null: no such value).
bool is_counter(const Value* value, const LaneLoop& lane, Value*& offset) {
  offset = nullptr;
  if (value == lane.counter) return true;
  const auto* add = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!add || add->getOpcode() != Instruction::Add) return false;
  for (unsigned k = 0; k < 2; ++k) {
    if (add->getOperand(k) != lane.counter || !lane.loop->isLoopInvariant(add->getOperand(1 - k))) continue;
    offset = add->getOperand(1 - k);
    return true;
  }
  return false;
}

/// A divisor defined outside of the loop, through casts that were left inside.
Value* outside(Value* divisor, const LaneLoop& lane) {
  if (lane.loop->isLoopInvariant(divisor)) return divisor;
  auto* cast = llvm::dyn_cast<Instruction>(divisor);
  const bool is_extension =
      cast && (cast->getOpcode() == Instruction::SExt || cast->getOpcode() == Instruction::ZExt ||
               cast->getOpcode() == Instruction::Trunc || cast->getOpcode() == Instruction::Freeze);
  if (!is_extension) return nullptr;
  Value* source = outside(cast->getOperand(0), lane);
  if (!source) return nullptr;
  // The copy is pure, so that it can run before the loop, without flags that need not hold there.
  cast->dropPoisonGeneratingAnnotations();
  cast->moveBefore(lane.preheader->getTerminator()->getIterator());
  return cast;
}

/// Whether `value` comes, within the loop, from an atomic that may wait for another lane: an exchange, or a comparison
/// with what does not change. Other atomic loops try again with the value they have read, so that one lane always makes
/// progress.
bool awaits_others(const Value* value, const llvm::Loop& loop, llvm::SmallPtrSetImpl<const Value*>& seen) {
  const auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction || !loop.contains(instruction) || !seen.insert(instruction).second) return false;
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(instruction)) {
    return loop.isLoopInvariant(exchange->getCompareOperand());
  }
  if (llvm::isa<llvm::AtomicRMWInst>(instruction)) return true;
  return llvm::any_of(instruction->operands(),
                      [&](const Value* operand) { return awaits_others(operand, loop, seen); });
}

/// Lanes run rounds together, so that the lane that holds a lock could not release it while others wait for it.
Refusal check_locks(const LaneLoop& lane) {
  for (const llvm::Loop* loop : lane.loop->getLoopsInPreorder()) {
    if (loop == lane.loop) continue;
    llvm::SmallVector<BasicBlock*, 4> exiting;
    loop->getExitingBlocks(exiting);
    for (const BasicBlock* block : exiting) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      llvm::SmallPtrSet<const Value*, 16> seen;
      if (branch && branch->isConditional() && awaits_others(branch->getCondition(), *loop, seen)) {
        return refuse("a loop that waits for an atomic, such as a lock, cannot be widened", *branch);
      }
    }
  }
  return {};
}

}  // namespace

MarkedLoops find_marked_loops(const llvm::Function& function, const llvm::LoopInfo& loops) {
  MarkedLoops marked;
  for (const Instruction& instruction : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->getName() != kMarkerName) continue;
    const llvm::Loop* loop = loops.getLoopFor(call->getParent());
    if (loop) marked.over_elements.insert(loop);
    for (; loop; loop = loop->getParentLoop()) marked.around.insert(loop);
  }
  return marked;
}

Refusal find_lane_loop(llvm::CallInst& marker, llvm::LoopInfo& loops, llvm::DominatorTree& dominators, LaneLoop& lane) {
  lane.loops = &loops;
  lane.dominators = &dominators;
  lane.loop = loops.getLoopFor(marker.getParent());
  if (!lane.loop) return refuse("there is no more than one element", marker);
  lane.header = lane.loop->getHeader();
  lane.preheader = lane.loop->getLoopPreheader();
  BasicBlock* latch = lane.loop->getLoopLatch();
  lane.exit = lane.loop->getUniqueExitBlock();
  if (!lane.preheader || !latch || !lane.exit || lane.loop->getExitingBlock() != lane.header) {
    return refuse("the loop over the elements can be left from inside", marker);
  }
  if (Refusal refusal = read_header(lane)) return refusal;
  if (!lane.exit->phis().empty()) return refuse("a variable of loop_prep carries a value out of the loop", marker);
  lane.latch = llvm::SplitBlock(latch, latch->getTerminator(), &dominators, &loops);
  auto* branch = llvm::cast<llvm::BranchInst>(lane.header->getTerminator());
  lane.body = branch->getSuccessor(lane.loop->contains(branch->getSuccessor(0)) ? 0 : 1);
  if (loops.isLoopHeader(lane.body) || lane.body->getUniquePredecessor() != lane.header) {
    return refuse("the loop over the elements has no plain body", marker);
  }
  Instruction* culprit = nullptr;
  std::string reason = build_regions(lane, culprit);
  return reason.empty() ? Refusal{} : Refusal{std::move(reason), culprit->getDebugLoc()};
}

Refusal check_body(const LaneLoop& lane, const PrivateMemory& memory) {
  if (Refusal refusal = check_locks(lane)) return refusal;
  for (const BasicBlock* block : lane.loop->blocks()) {
    if (!lane.contains(block)) continue;
    const Instruction& end = *block->getTerminator();
    if (!llvm::isa<llvm::BranchInst>(end) && !llvm::isa<llvm::UnreachableInst>(end)) {
      return refuse("this kind of jump cannot be widened", end);
    }
    for (const Instruction& instruction : *block) {
      if (!has_vector_form(instruction.getType())) return refuse("a value of this type cannot be widened", instruction);
      for (const Value* operand : instruction.operands()) {
        if (!operand->getType()->isLabelTy() && !operand->getType()->isMetadataTy() &&
            !llvm::isa<llvm::Function>(operand) && !has_vector_form(operand->getType())) {
          return refuse("a value of this type cannot be widened", instruction);
        }
      }
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call || call->isLifetimeStartOrEnd()) continue;
      if (Refusal refusal = check_call(*call)) return refusal;
    }
  }
  Instruction* culprit = nullptr;
  std::string reason = shared_local_conflict(lane, memory, culprit);
  return reason.empty() ? Refusal{} : Refusal{std::move(reason), culprit ? culprit->getDebugLoc() : llvm::DebugLoc()};
}

RowSplit find_row_split(const LaneLoop& lane, int lanes) {
  RowSplit split;
  const Value* dividend = nullptr;
  for (BasicBlock* block : lane.loop->blocks()) {
    if (!lane.contains(block)) continue;
    for (const Instruction& instruction : *block) {
      const Division division = as_division(instruction);
      if (!division.opcode || division.divisor->getType()->getIntegerBitWidth() > 64) continue;
      Value* offset = nullptr;
      unsigned bits = 64;
      const Value* root = without_casts(division.dividend, bits);
      if (bits < 32 || bits > 64 || !is_counter(root, lane, offset)) continue;
      if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(division.divisor)) {
        if (constant->getSExtValue() < 2 * lanes) continue;
      }
      if (!split.divisor) {
        split.divisor = outside(division.divisor, lane);
        split.offset = offset;
        split.bits = bits;
        dividend = root;
      }
      if (!split.divisor || root != dividend || division.divisor != split.divisor) continue;
      const bool is_quotient = division.opcode == Instruction::SDiv || division.opcode == Instruction::UDiv;
      (is_quotient ? split.quotients : split.remainders).insert(&instruction);
    }
  }
  return split;
}

}  // namespace iruka::cpu_backend::spmd
