#include "backend/cpu/spmd/lane_loop.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "backend/cpu/spmd/block_calls.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"
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

Refusal check_call(const llvm::CallBase& call, const LaneLoop& lane) {
  if (call.isInlineAsm()) return refuse("inline assembly has no vector form", call);
  // Threads that must be lanes call such functions one after the other; elements are faster without lanes.
  if (lane.must_be_lanes) return {};
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

/// Where a loop goes on: while a value is below its bound, above it, or neither.
enum class Side : int8_t { none, below, above };

Side side_of(llvm::CmpInst::Predicate predicate) {
  switch (predicate) {
    case llvm::CmpInst::ICMP_SLT:
    case llvm::CmpInst::ICMP_SLE:
    case llvm::CmpInst::ICMP_ULT:
    case llvm::CmpInst::ICMP_ULE: return Side::below;
    case llvm::CmpInst::ICMP_SGT:
    case llvm::CmpInst::ICMP_SGE:
    case llvm::CmpInst::ICMP_UGT:
    case llvm::CmpInst::ICMP_UGE: return Side::above;
    default: return Side::none;
  }
}

/// Finds loops that may wait for another lane. Others make progress by themselves: those that try again with the value
/// that they have read, and those that take numbers from a counter until it has passed a bound, as from a queue of
/// work.
class LockSearch {
 public:
  explicit LockSearch(const llvm::Loop& loop) : loop_(loop) {}

  /// Whether the loop goes on while `condition` is `goes_on`, and it depends on an atomic that may wait.
  bool awaits_others(Value* condition, bool goes_on) {
    using namespace llvm::PatternMatch;
    Value *left = nullptr, *right = nullptr;
    const bool both = match(condition, m_LogicalAnd(m_Value(left), m_Value(right)));
    const bool any = !both && match(condition, m_LogicalOr(m_Value(left), m_Value(right)));
    // It goes on only while each of them says so.
    if ((both && goes_on) || (any && !goes_on)) return awaits_others(left, goes_on) || awaits_others(right, goes_on);
    const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
    if (!compare || !loop_.contains(compare)) return depends(condition, Side::none);
    for (const unsigned k : {0u, 1u}) {
      if (!loop_.isLoopInvariant(compare->getOperand(1 - k))) continue;
      llvm::CmpInst::Predicate predicate = k == 0 ? compare->getPredicate() : compare->getSwappedPredicate();
      if (!goes_on) predicate = llvm::CmpInst::getInversePredicate(predicate);
      return depends(compare->getOperand(k), side_of(predicate));
    }
    return depends(condition, Side::none);
  }

 private:
  /// Whether `value` comes, within the loop, from an atomic that does not move it past the bound.
  bool depends(const Value* value, Side side) {
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || !loop_.contains(instruction) || !seen_.insert({value, side}).second) return false;
    // An exchange, or a comparison with what does not change, waits for another value.
    if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(instruction))
      return loop_.isLoopInvariant(exchange->getCompareOperand());
    if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(instruction)) return !advances(*update, side);
    for (unsigned k = 0; k < instruction->getNumOperands(); ++k)
      if (depends(instruction->getOperand(k), keeps_order(*instruction, k) ? side : Side::none)) return true;
    return false;
  }

  /// Whether a greater operand `k` gives no smaller result, which also holds for a value that is passed on.
  static bool keeps_order(const Instruction& instruction, unsigned k) {
    switch (instruction.getOpcode()) {
      case Instruction::PHI:
      case Instruction::SExt:
      case Instruction::ZExt:
      case Instruction::Trunc:
      case Instruction::Freeze:
      case Instruction::Add: return true;
      case Instruction::Select: return k > 0;
      case Instruction::Sub:
      case Instruction::Shl: return k == 0;
      case Instruction::Mul: {
        const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1 - k));
        return factor && factor->getValue().isStrictlyPositive();
      }
      case Instruction::Call: {
        const auto kind = block_call(llvm::cast<llvm::CallBase>(instruction));
        return kind == BlockCall::shuffle && k == 0;
      }
      default: return false;
    }
  }

  /// Whether each round moves the number in memory towards its bound.
  bool advances(const llvm::AtomicRMWInst& update, Side side) const {
    const bool adds = update.getOperation() == llvm::AtomicRMWInst::Add;
    if (side == Side::none || (!adds && update.getOperation() != llvm::AtomicRMWInst::Sub)) return false;
    const Value* step = update.getValOperand();
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step))
      return !constant->isZero() && (adds == !constant->isNegative()) == (side == Side::below);
    const llvm::DataLayout& layout = update.getDataLayout();
    const bool counts = loop_.isLoopInvariant(step) || llvm::computeKnownBits(step, layout).isNonNegative();
    return counts && adds == (side == Side::below);
  }

  const llvm::Loop& loop_;
  llvm::SmallSet<std::pair<const Value*, Side>, 16> seen_;
};

/// Lanes run rounds together, so that the lane that holds a lock could not release it while others wait for it.
Refusal check_locks(const LaneLoop& lane) {
  for (const llvm::Loop* loop : lane.loop->getLoopsInPreorder()) {
    if (loop == lane.loop) continue;
    llvm::SmallVector<BasicBlock*, 4> exiting;
    loop->getExitingBlocks(exiting);
    for (const BasicBlock* block : exiting) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (!branch || !branch->isConditional()) continue;
      if (LockSearch(*loop).awaits_others(branch->getCondition(), loop->contains(branch->getSuccessor(0))))
        return refuse("a loop that waits for an atomic, such as a lock, cannot be widened", *branch);
    }
  }
  return {};
}

}  // namespace

std::vector<llvm::CallInst*> find_markers(llvm::Function& function) {
  std::vector<llvm::CallInst*> markers;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && call->getCalledFunction() && call->getCalledFunction()->getName() == kMarkerName)
      markers.push_back(call);
  }
  return markers;
}

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
      if (Refusal refusal = check_call(*call, lane)) return refusal;
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
