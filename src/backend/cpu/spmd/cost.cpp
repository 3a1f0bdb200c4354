#include "backend/cpu/spmd/cost.h"

#include <algorithm>
#include <cstdio>

#include "backend/cpu/compiler/guard_pass.h"
#include "backend/cpu/spmd/address.h"
#include "backend/cpu/spmd/calls.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"

// Work is counted in parts (micro-operations), several of which a processor issues in a cycle. The counts for
// arithmetic are those of LLVM's cost model; the others were measured on Zen 3.
namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;
using llvm::Value;
using Costs = llvm::TargetTransformInfo;

constexpr double kScalarParts = 4.5, kVectorParts = 2.7;  ///< issued in a cycle
constexpr double kPartsInFlight = 200;                    ///< the size of the processor's reorder window
constexpr double kUnknownRounds = 10;                     ///< of a loop
constexpr double kIdleLanes = 1.3;                        ///< factor for a loop that runs until its last lane has left
constexpr double kMispredicted = 15;                      ///< cycles
constexpr double kBranchMispredicted = 8;                 ///< average parts lost by a data-dependent branch
constexpr double kMathCall = 225, kVectorMathCall = 135;  ///< a call of the math library, for a number or a register
constexpr double kDivision = 21, kLongDivision = 27;      ///< of integers, guarded
constexpr double kLaneOfDivision = 3.4, kLaneOfLongDivision = 5.1;  ///< through doubles
constexpr double kLaneByLane = 6;  ///< parts to extract a lane's operands and insert its result
constexpr double kHeavySide = 40;  ///< parts from which on a jump over a side may pay
constexpr double kWorthIt = 0.95, kWorthItWithoutLoops = 0.8;
constexpr double kCertain = 0.4, kMostDoubt = 12;

/// The work for W elements, one after the other (scalar) and side by side (vector).
struct Cost {
  double scalar = 0, vector = 0;
};

/// Whether `value` is only used in addresses that are computed for each lane separately.
bool is_for_addresses(const Instruction& value) {
  return llvm::all_of(value.users(), [](const llvm::User* user) {
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    return address && llvm::all_of(address->users(), [&](const llvm::User* access) {
             const auto* instruction = llvm::dyn_cast<Instruction>(access);
             return instruction && llvm::getLoadStorePointerOperand(instruction) == address;
           });
  });
}

/// The call that marks the loop.
bool is_marker(const llvm::CallInst& call) {
  return call.getType()->isVoidTy() && call.onlyAccessesInaccessibleMemory();
}

enum class Access : uint8_t {
  uniform,
  consecutive,
  interleaved,  ///< channels
  clamped,      ///< consecutive but for borders
  anywhere,
};

/// Whether a value advances from lane to lane except for clamps, mirroring and selects.
bool is_near_index(const Value* value, const LaneAnalysis& analysis, int depth = 0) {
  constexpr int kDeepest = 8;
  const Shape shape = analysis.shape(value);
  if (shape.is_linear()) return shape.stride >= 1 && shape.stride <= 4;
  const auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!shape.is_varying() || !instruction || depth == kDeepest) return false;
  const auto is_near = [&](unsigned k) { return is_near_index(instruction->getOperand(k), analysis, depth + 1); };
  const auto is_uniform = [&](unsigned k) { return analysis.is_uniform(instruction->getOperand(k)); };
  switch (instruction->getOpcode()) {
    case Instruction::SExt:
    case Instruction::ZExt: return is_near(0);
    case Instruction::Select: return is_near(1) || is_near(2);
    case Instruction::Add:
    case Instruction::Or: return (is_near(0) && is_uniform(1)) || (is_near(1) && is_uniform(0));
    case Instruction::Sub: return is_near(0) && is_uniform(1);
    case Instruction::Mul:
    case Instruction::Shl: return is_near(0) && llvm::isa<llvm::ConstantInt>(instruction->getOperand(1));
    default: return llvm::isa<llvm::MinMaxIntrinsic>(instruction) && (is_near(0) || is_near(1));
  }
}

/// Whether an address is that of neighbours except at borders, or at a constant distance from such an address.
bool is_clamped(const Value* pointer, const LaneAnalysis& analysis) {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (!address) return false;
  const bool moves = llvm::any_of(address->indices(), [&](const Value* index) { return !analysis.is_uniform(index); });
  if (!moves) return is_clamped(address->getPointerOperand(), analysis);
  return analysis.is_uniform(address->getPointerOperand()) &&
         is_near_index(address->getOperand(address->getNumOperands() - 1), analysis);
}

class CostModel {
 public:
  CostModel(const LaneLoop& loop, const LaneAnalysis& analysis, const PrivateMemory& memory, const WidenTarget& target)
      : loop_(loop),
        analysis_(analysis),
        memory_(memory),
        target_(target),
        layout_(loop.header->getDataLayout()),
        lanes_(static_cast<unsigned>(analysis.lanes())) {}

  /// In cycles.
  Cost estimate() const { return region_cycles(loop_.body_region).cycles; }

  /// Whether lanes wait for others in a loop or a heavy side of a branch, for a time that depends on the data.
  bool has_idle_lanes(const Region& region) const;
  /// Whether lanes access unrelated addresses, whose cost depends on caches.
  bool has_gathers() const {
    return llvm::any_of(loop_.loop->blocks(), [&](const llvm::BasicBlock* block) {
      return loop_.contains(block) && llvm::any_of(*block, [&](const Instruction& instruction) {
               return llvm::getLoadStorePointerOperand(&instruction) && !instruction.isAtomic() &&
                      access(instruction) == Access::anywhere;
             });
    });
  }

  /// The cost in the scalar path with LLVM's loop vectoriser; a very large number where it may fail.
  double loop_vectoriser_cycles() const;

  Access access(const Instruction& instruction) const {
    const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    const Shape shape = analysis_.shape(pointer);
    if (shape.is_uniform()) return Access::uniform;
    if (!shape.is_linear()) {
      const bool is_near = !memory_.may_be_private(pointer) && is_clamped(pointer, analysis_);
      return is_near && llvm::isa<llvm::LoadInst>(instruction) ? Access::clamped : Access::anywhere;
    }
    const auto size =
        static_cast<int64_t>(layout_.getTypeStoreSize(llvm::getLoadStoreType(&instruction)).getFixedValue());
    if (shape.stride == size) return Access::consecutive;
    const bool is_group = shape.stride > 0 && shape.stride % size == 0 && shape.stride <= 4 * size;
    return is_group && !memory_.layout_of(pointer) ? Access::interleaved : Access::anywhere;
  }

 private:
  struct RegionCost {
    Cost parts;   ///< of its own blocks
    Cost cycles;  ///< with the loops inside
  };
  RegionCost region_cycles(const Region& region) const;
  Cost loop_cycles(const llvm::Loop& loop) const;
  Cost block_parts(const llvm::BasicBlock& block) const;
  double rounds(const llvm::Loop& loop) const;
  double round_latency(const llvm::Loop& loop, bool is_vector) const;
  double latency(const Instruction& instruction, bool is_vector) const;
  bool is_vectorised_inside(const llvm::Loop& loop) const;
  bool walks_in_order(const llvm::Loop& loop) const;
  bool walks_in_order(const Instruction& access, const llvm::Loop& loop) const;
  bool is_free(const Instruction& instruction) const;
  double gather_lane(const Instruction& instruction) const;
  Cost cost(const Instruction& instruction) const;
  Cost branch_cost(const Instruction& branch) const;
  Cost access_cost(const Instruction& instruction) const;
  Cost call_cost(const llvm::CallInst& call) const;
  Cost division_cost(const Instruction& division, const Value* divisor) const;
  enum class Obstacle : uint8_t { no, gather, yes };
  /// The cost of an instruction with LLVM's loop vectoriser.
  Obstacle obstacle(const Instruction& instruction, bool is_masked) const;
  double vector_arithmetic(const Instruction& instruction) const;
  double vector_intrinsic(const llvm::CallInst& call) const;

  llvm::Type* widened(llvm::Type* type) const {
    return llvm::VectorType::isValidElementType(type) ? llvm::FixedVectorType::get(type, lanes_) : type;
  }
  /// Registers that W values of a type fill.
  double registers(const llvm::Type* type) const {
    const double bits =
        static_cast<double>(type->isPointerTy() ? 64 : std::max(type->getScalarSizeInBits(), 8u)) * lanes_;
    return std::max(1.0, bits / (8.0 * target_.vector_bytes));
  }
  static double number(llvm::InstructionCost cost) {
    return cost.isValid() ? static_cast<double>(cost.getValue()) : 100;
  }
  double scalar_cost(const Instruction& instruction) const {
    return number(target_.costs.getInstructionCost(&instruction, Costs::TCK_RecipThroughput));
  }

  const LaneLoop& loop_;
  const LaneAnalysis& analysis_;
  const PrivateMemory& memory_;
  const WidenTarget& target_;
  const llvm::DataLayout& layout_;
  const unsigned lanes_;
};

/// The fraction of its dominator's runs in which a node runs: one of two sides, or the code after an early exit.
double probability(const Region& region, unsigned node) {
  const Node& dominator = region.nodes[region.nodes[node].dominator];
  const bool is_side = llvm::is_contained(dominator.successors, node) && dominator.successors.size() > 1;
  return is_side && !llvm::is_contained(dominator.successors, Node::kOutside) ? 0.5 : 0.95;
}

/// A masked side runs for some of the elements, but for nearly every vector.
CostModel::RegionCost CostModel::region_cycles(const Region& region) const {
  std::vector<Cost> weights(region.nodes.size(), Cost{1, 1});
  RegionCost result;
  for (unsigned k = 0; k < region.nodes.size(); ++k) {
    const Node& node = region.nodes[k];
    Cost& weight = weights[k];
    if (k > 0) {
      weight = weights[node.dominator];
      const Reach reach = analysis_.reach(node.block);
      if (reach != Reach::always) weight.scalar *= probability(region, k);
      if (reach == Reach::uniform) weight.vector *= probability(region, k);
    }
    const Cost cost = node.loop ? loop_cycles(*node.loop) : block_parts(*node.block);
    Cost& sum = node.loop ? result.cycles : result.parts;
    sum.scalar += weight.scalar * cost.scalar;
    sum.vector += weight.vector * cost.vector;
  }
  result.cycles.scalar += result.parts.scalar / kScalarParts;
  result.cycles.vector += result.parts.vector / kVectorParts;
  return result;
}

bool CostModel::has_idle_lanes(const Region& region) const {
  std::vector<bool> is_masked(region.nodes.size(), false);
  for (unsigned k = 0; k < region.nodes.size(); ++k) {
    const Node& node = region.nodes[k];
    is_masked[k] = k > 0 && (is_masked[node.dominator] || analysis_.reach(node.block) == Reach::masked);
    if (node.loop) {
      if (is_masked[k] || analysis_.is_divergent(node.loop) || has_idle_lanes(loop_.region(node.loop))) return true;
    } else if (is_masked[k] && block_parts(*node.block).vector > kHeavySide) {
      return true;
    }
  }
  return false;
}

/// A round takes as long as its work, or as the latency of the values that it carries to the next round, unless rounds
/// of other elements are close enough to fill the gaps.
Cost CostModel::loop_cycles(const llvm::Loop& loop) const {
  const RegionCost once = region_cycles(loop_.region(&loop));
  const double rounds = this->rounds(loop);
  const auto time = [&](double cycles, double parts, double latency) {
    return std::max(cycles, latency * std::min(1.0, rounds * parts / kPartsInFlight));
  };
  const double one_element = once.parts.scalar / lanes_;
  Cost cost{lanes_ * time(once.cycles.scalar / lanes_, one_element, round_latency(loop, false)),
            time(once.cycles.vector, once.parts.vector, round_latency(loop, true))};
  if (is_vectorised_inside(loop)) cost.scalar /= target_.vector_bytes / 4.0;
  const bool is_divergent = analysis_.is_divergent(&loop);
  return {rounds * cost.scalar + (is_divergent ? lanes_ * kMispredicted : 0),
          rounds * cost.vector * (is_divergent ? kIdleLanes : 1)};
}

/// Loop invariants cost nothing, because the optimiser hoists them.
bool is_hoisted(const Instruction& instruction, const llvm::Loop& loop, int depth = 0) {
  constexpr int kDeepest = 12;
  if (instruction.isTerminator() || llvm::isa<llvm::PHINode>(instruction) || depth == kDeepest) return false;
  if (instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::LoadInst>(instruction)) return false;
  return llvm::all_of(instruction.operands(), [&](const Value* operand) {
    const auto* inside = llvm::dyn_cast<Instruction>(operand);
    return !inside || !loop.contains(inside) || is_hoisted(*inside, loop, depth + 1);
  });
}

Cost CostModel::block_parts(const llvm::BasicBlock& block) const {
  Cost sum;
  const llvm::Loop* loop = loop_.loops->getLoopFor(&block);
  for (const Instruction& instruction : block) {
    if (is_free(instruction)) continue;
    const Cost cost = this->cost(instruction);
    const double share = loop != loop_.loop && is_hoisted(instruction, *loop) ? 1 / kUnknownRounds : 1;
    sum.scalar += share * cost.scalar;
    sum.vector += share * cost.vector;
  }
  return sum;
}

/// Values that only an assumption uses, and values that the optimiser hoists out of the loop over the elements.
bool CostModel::is_free(const Instruction& instruction) const {
  const auto is_assumption = [](const llvm::User* user) { return llvm::isa<llvm::AssumeInst>(user); };
  if (!instruction.use_empty() && llvm::all_of(instruction.users(), is_assumption)) return true;
  if (loop_.loops->getLoopFor(instruction.getParent()) != loop_.loop) return false;
  if (!analysis_.is_uniform(&instruction) || instruction.isTerminator()) return false;
  return !instruction.mayReadOrWriteMemory() || (llvm::isa<llvm::LoadInst>(instruction) && !instruction.isAtomic());
}

/// The longest latency, in cycles, from a loop-carried value to its value for the next round.
double CostModel::round_latency(const llvm::Loop& loop, bool is_vector) const {
  const Region& region = loop_.region(&loop);
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  if (!latch) return 0;
  double longest = 0;
  for (const llvm::PHINode& first : loop.getHeader()->phis()) {
    llvm::DenseMap<const Value*, double> reached{{&first, 0}};
    for (const Node& node : region.nodes) {
      if (node.loop) continue;
      for (const Instruction& instruction : *node.block) {
        if (llvm::isa<llvm::PHINode>(instruction) && node.block == loop.getHeader()) continue;
        double at = -1;
        for (const Value* operand : instruction.operands()) {
          if (const auto found = reached.find(operand); found != reached.end()) at = std::max(at, found->second);
        }
        if (at >= 0) reached[&instruction] = at + latency(instruction, is_vector);
      }
    }
    longest = std::max(longest, reached.lookup(first.getIncomingValueForBlock(latch)));
  }
  return longest;
}

double CostModel::latency(const Instruction& instruction, bool is_vector) const {
  const bool is_wide = is_vector && analysis_.is_varying(&instruction);
  switch (instruction.getOpcode()) {
    case Instruction::PHI:
    case Instruction::GetElementPtr:
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::Trunc:
    case Instruction::Freeze:
    case Instruction::BitCast: return is_wide ? 1 : 0;
    case Instruction::Load: return 5 + (is_vector && access(instruction) == Access::anywhere ? 15 : 0);
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::SIToFP:
    case Instruction::UIToFP:
    case Instruction::FPToSI:
    case Instruction::FPToUI: return 4;
    case Instruction::Mul: return 3;
    case Instruction::FDiv: return 13;
    case Instruction::FCmp: return 2;
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem: return llvm::isa<llvm::Constant>(instruction.getOperand(1)) ? 5 : 14;
    case Instruction::Call: break;
    default: return 1;
  }
  const auto& call = llvm::cast<llvm::CallInst>(instruction);
  switch (call_form(call, analysis_, target_.library, target_.costs)) {
    case CallForm::division: return is_wide ? 45 : 16;
    case CallForm::together:
    case CallForm::math: return 60;
    case CallForm::intrinsic: return 4;
    case CallForm::lane_by_lane: return is_wide ? lanes_ * 20 : 20;
    default: return 0;
  }
}

/// The number of rounds of a loop that counts from one constant to another.
double CostModel::rounds(const llvm::Loop& loop) const {
  const llvm::BasicBlock* exiting = loop.getExitingBlock();
  const llvm::BasicBlock *latch = loop.getLoopLatch(), *preheader = loop.getLoopPreheader();
  const auto* branch = exiting ? llvm::dyn_cast<llvm::BranchInst>(exiting->getTerminator()) : nullptr;
  const auto* compare =
      branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!compare || !latch || !preheader) return kUnknownRounds;
  const auto* end = llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1));
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    const auto* begin = llvm::dyn_cast<llvm::ConstantInt>(phi.getIncomingValueForBlock(preheader));
    const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(latch));
    if (!begin || !end || !next || next->getOpcode() != Instruction::Add || next->getOperand(0) != &phi) continue;
    const auto* step = llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1));
    if (!step || step->isZero() || (compare->getOperand(0) != &phi && compare->getOperand(0) != next)) continue;
    if (phi.getType()->getIntegerBitWidth() > 64) continue;
    const double distance = static_cast<double>(end->getSExtValue()) - static_cast<double>(begin->getSExtValue());
    return std::clamp(distance / static_cast<double>(step->getSExtValue()), 1.0, 1e6);
  }
  return kUnknownRounds;
}

/// Whether LLVM's vectoriser takes an inner loop of the scalar path: one block, perhaps behind a header with the test,
/// that walks memory in order, and carries nothing but integers, which may be added up in any order, from round to
/// round.
bool CostModel::is_vectorised_inside(const llvm::Loop& loop) const {
  const bool is_tested_first = loop.getNumBlocks() == 2 && loop.getExitingBlock() == loop.getHeader();
  if (!loop.isInnermost() || (loop.getNumBlocks() != 1 && !is_tested_first)) return false;
  return walks_in_order(loop);
}

bool CostModel::walks_in_order(const llvm::Loop& loop) const {
  bool has_access = false;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const Instruction& instruction : *block) {
      if (llvm::isa<llvm::PHINode>(instruction) && !instruction.getType()->isIntegerTy()) return false;
      if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) return false;
      if (llvm::getLoadStorePointerOperand(&instruction)) {
        if (!walks_in_order(instruction, loop)) return false;
        has_access = true;
      } else if (instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::AssumeInst>(instruction)) {
        return false;
      }
    }
  }
  return has_access;
}

/// Whether the rounds of a loop access neighbouring elements, or load one element.
bool CostModel::walks_in_order(const Instruction& access, const llvm::Loop& loop) const {
  const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(llvm::getLoadStoreType(&access)).getFixedValue());
  const AddressSum sum =
      take_apart(llvm::getLoadStorePointerOperand(&access), layout_, [](const Value*) { return true; });
  int64_t step = 0;
  for (const auto& [value, scale] : sum.terms) {
    const auto* term = llvm::dyn_cast<Instruction>(value);
    if (!term || !loop.contains(term)) continue;
    if (!llvm::isa<llvm::PHINode>(term)) return false;
    step += scale;
  }
  return step == size || (step == 0 && llvm::isa<llvm::LoadInst>(access));
}

Cost CostModel::cost(const Instruction& instruction) const {
  if (llvm::isa<llvm::PHINode>(instruction)) {
    const bool blended = analysis_.is_varying(&instruction) && analysis_.is_blended(instruction.getParent());
    return {0, blended ? registers(instruction.getType()) * (instruction.getNumOperands() - 1) : 0};
  }
  if (instruction.isTerminator()) return branch_cost(instruction);
  if (llvm::isa<llvm::AllocaInst>(instruction)) return {};
  if (llvm::getLoadStorePointerOperand(&instruction) && !instruction.isAtomic()) return access_cost(instruction);
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return call_cost(*call);
  const Shape shape = analysis_.shape(&instruction);
  switch (instruction.getOpcode()) {
    case Instruction::GetElementPtr:
      // A part of the access.
      return {};
    case Instruction::SExt:
    case Instruction::ZExt:
      if (shape.is_varying() && is_for_addresses(instruction)) return {static_cast<double>(lanes_), 0};
      break;
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
      if (shape.is_varying()) return division_cost(instruction, instruction.getOperand(1));
      break;
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg: {
      constexpr double kAtomic = 40;
      return {kAtomic * lanes_, (kAtomic + kLaneByLane) * lanes_};
    }
    default: break;
  }
  const double once = scalar_cost(instruction);
  return {once * lanes_, shape.is_varying() ? vector_arithmetic(instruction) : once};
}

Cost CostModel::branch_cost(const Instruction& branch) const {
  const auto* conditional = llvm::dyn_cast<llvm::BranchInst>(&branch);
  if (!conditional || !conditional->isConditional()) return {};
  if (!analysis_.has_varying_branch(branch.getParent())) return {static_cast<double>(lanes_), 1};
  const double masks = std::max(1.0, static_cast<double>(target_.lane_bits * lanes_) / (8.0 * target_.vector_bytes));
  const llvm::Loop* loop = loop_.loops->getLoopFor(branch.getParent());
  const bool leaves = loop != loop_.loop && loop->isLoopExiting(branch.getParent());
  return {(leaves ? 1 : 1 + kBranchMispredicted) * lanes_, 2 * masks + 2};
}

Cost CostModel::access_cost(const Instruction& instruction) const {
  const bool is_store = llvm::isa<llvm::StoreInst>(instruction);
  llvm::Type* type = llvm::getLoadStoreType(&instruction);
  const double one_by_one = lanes_, masked = analysis_.reach(instruction.getParent()) == Reach::masked ? 1 : 0;
  const double pieces = registers(type);
  switch (access(instruction)) {
    case Access::uniform: return {one_by_one, is_store ? 3.0 : 1.0};
    case Access::consecutive: return {one_by_one, pieces * (1 + masked)};
    case Access::interleaved: return {one_by_one, masked > 0 ? 2 * one_by_one : 3 * pieces};
    case Access::clamped: return {one_by_one, 3 * pieces + 8};
    case Access::anywhere: break;
  }
  return {one_by_one, gather_lane(instruction) * lanes_};
}

/// Whether the varying index of an address has 64 bits.
bool has_long_index(const Instruction& access) {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(llvm::getLoadStorePointerOperand(&access));
  if (!address) return true;
  const Value* index = address->getOperand(address->getNumOperands() - 1);
  const auto* cast = llvm::dyn_cast<llvm::CastInst>(index);
  return !cast || cast->getSrcTy()->getScalarSizeInBits() > 32;
}

/// The cost of one lane's access at an unrelated address. Without gather and scatter instructions, its index is
/// extracted from a vector, unless it is at a constant distance from the first lane's, and the element is inserted into
/// or extracted from one.
double CostModel::gather_lane(const Instruction& instruction) const {
  auto* vector = llvm::dyn_cast<llvm::VectorType>(widened(llvm::getLoadStoreType(&instruction)));
  const llvm::Align align = llvm::getLoadStoreAlignment(&instruction);
  const bool is_masked = analysis_.reach(instruction.getParent()) == Reach::masked;
  const double index = analysis_.shape(llvm::getLoadStorePointerOperand(&instruction)).is_linear() ? 0 : 2;
  // AVX2's gathers are no faster than loads one by one.
  const double native = target_.has_mask_registers ? 2 : has_long_index(instruction) ? 9 : 4.5;
  if (llvm::isa<llvm::StoreInst>(instruction)) {
    const bool is_native = vector && target_.costs.isLegalMaskedScatter(vector, align) &&
                           !target_.costs.forceScalarizeMaskedScatter(vector, align);
    return is_native ? native : 2.5 + index + (is_masked ? 4 : 0);
  }
  const bool is_native = vector && target_.costs.isLegalMaskedGather(vector, align) &&
                         !target_.costs.forceScalarizeMaskedGather(vector, align);
  return is_native ? native : 3 + index + (is_masked ? 2 : 0);
}

/// Whether an earlier instruction divides the same numbers; one division then gives quotient and remainder.
bool has_twin(const Instruction& division) {
  return llvm::any_of(division.getOperand(0)->users(), [&](const llvm::User* user) {
    const auto* other = llvm::dyn_cast<Instruction>(user);
    if (!other || other == &division || other->getParent() != division.getParent() || !other->comesBefore(&division))
      return false;
    const auto* call = llvm::dyn_cast<llvm::CallInst>(other);
    const bool divides = call ? division_opcode(*call).has_value() : other->isIntDivRem();
    return divides && other->getOperand(0) == division.getOperand(0) && other->getOperand(1) == division.getOperand(1);
  });
}

Cost CostModel::division_cost(const Instruction& division, const Value* divisor) const {
  const bool is_long = division.getType()->getIntegerBitWidth() > 32;
  if (llvm::isa<llvm::ConstantInt>(divisor)) {
    constexpr double kByConstant = 5;
    return {kByConstant * lanes_, kByConstant * (is_long ? lanes_ : registers(division.getType()))};
  }
  if (has_twin(division)) return {1.0 * lanes_, 1.5 * lanes_};
  return {(is_long ? kLongDivision : kDivision) * lanes_, (is_long ? kLaneOfLongDivision : kLaneOfDivision) * lanes_};
}

Cost CostModel::call_cost(const llvm::CallInst& call) const {
  const auto form = call_form(call, analysis_, target_.library, target_.costs);
  const bool is_uniform = analysis_.is_uniform(&call);
  switch (form) {
    case CallForm::dropped:
    case CallForm::identity:
    case CallForm::unknown:
    case CallForm::prefetch: return {};
    case CallForm::division:
      if (is_uniform) return {kDivision * lanes_, kDivision};
      if (analysis_.split().quotients.contains(&call) || analysis_.split().remainders.contains(&call)) {
        return {kDivision * lanes_, 1};
      }
      return division_cost(call, call.getArgOperand(1));
    case CallForm::math:
      return {kMathCall * lanes_, is_uniform ? kMathCall : kVectorMathCall * registers(call.getType())};
    case CallForm::intrinsic: {
      const double once = scalar_cost(call);
      return {once * lanes_, is_uniform ? once : vector_intrinsic(call)};
    }
    case CallForm::lane_by_lane: break;
  }
  if (is_marker(call)) return {};
  return {kMathCall * lanes_, is_uniform ? kMathCall : (kMathCall + kLaneByLane) * lanes_};
}

double CostModel::vector_arithmetic(const Instruction& instruction) const {
  constexpr auto kKind = Costs::TCK_RecipThroughput;
  llvm::Type* type = widened(instruction.getType());
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    return number(target_.costs.getCastInstrCost(cast->getOpcode(), type, widened(cast->getSrcTy()),
                                                 Costs::CastContextHint::None, kKind));
  }
  if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    llvm::Type* compared = widened(compare->getOperand(0)->getType());
    return number(
        target_.costs.getCmpSelInstrCost(compare->getOpcode(), compared, type, compare->getPredicate(), kKind));
  }
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    llvm::Type* condition = widened(select->getCondition()->getType());
    return number(target_.costs.getCmpSelInstrCost(select->getOpcode(), type, condition,
                                                   llvm::CmpInst::BAD_ICMP_PREDICATE, kKind));
  }
  if (instruction.isBinaryOp() || instruction.isUnaryOp()) {
    const auto info = [](const Value* value) { return Costs::getOperandInfo(value); };
    const unsigned last = instruction.getNumOperands() - 1;
    Costs::OperandValueInfo second = info(instruction.getOperand(last));
    if (analysis_.is_uniform(instruction.getOperand(last)) && second.Kind == Costs::OK_AnyValue)
      second.Kind = Costs::OK_UniformValue;
    return number(target_.costs.getArithmeticInstrCost(instruction.getOpcode(), type, kKind,
                                                       info(instruction.getOperand(0)), second));
  }
  return llvm::isa<llvm::ExtractValueInst>(instruction) || llvm::isa<llvm::InsertValueInst>(instruction) ||
                 llvm::isa<llvm::FreezeInst>(instruction)
             ? 0
             : (1 + kLaneByLane) * lanes_;
}

double CostModel::vector_intrinsic(const llvm::CallInst& call) const {
  // LLVM's cost model counts two instructions here, but it is one.
  const auto id = call.getIntrinsicID();
  if (id == llvm::Intrinsic::fma || id == llvm::Intrinsic::fmuladd) return registers(call.getType());
  llvm::SmallVector<llvm::Type*, 4> types;
  for (const Value* argument : call.args()) types.push_back(widened(argument->getType()));
  llvm::Type* result = call.getType()->isStructTy() ? nullptr : widened(call.getType());
  if (!result) return 4 * registers(call.getArgOperand(0)->getType());
  const llvm::IntrinsicCostAttributes attributes(call.getIntrinsicID(), result, types);
  return number(target_.costs.getIntrinsicInstrCost(attributes, Costs::TCK_RecipThroughput));
}

/// LLVM's loop vectoriser runs both sides of branches for all elements. It keeps the bodies that it vectorises as well
/// as lanes do. Lanes gain where heavy sides can be jumped over, where byte stores may alias anything, and where
/// integers are divided.
double CostModel::loop_vectoriser_cycles() const {
  constexpr double kNever = 1e30, kLaneOfGather = 3.5;
  if (!loop_.loop->isInnermost() || !loop_.loop->isAnnotatedParallel() || !memory_.locals().empty()) return kNever;
  double parts = 0;
  for (const Node& node : loop_.body_region.nodes) {
    const bool is_masked = analysis_.reach(node.block) == Reach::masked;
    double side = 0;
    for (const Instruction& instruction : *node.block) {
      if (is_free(instruction)) continue;
      const Obstacle obstacle = this->obstacle(instruction, is_masked);
      if (obstacle == Obstacle::yes) return kNever;
      side += obstacle == Obstacle::gather ? kLaneOfGather * lanes_ : cost(instruction).vector;
    }
    if (is_masked && side > kHeavySide) return kNever;
    parts += side;
  }
  return parts / kVectorParts;
}

CostModel::Obstacle CostModel::obstacle(const Instruction& instruction, bool is_masked) const {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
  if (instruction.isTerminator()) return branch ? Obstacle::no : Obstacle::yes;
  if (instruction.isAtomic() || instruction.isVolatile()) return Obstacle::yes;
  if (const Value* pointer = llvm::getLoadStorePointerOperand(&instruction)) {
    const unsigned bits = llvm::getLoadStoreType(&instruction)->getScalarSizeInBits();
    const bool is_store = llvm::isa<llvm::StoreInst>(instruction);
    if ((is_store && bits < 16) || (is_masked && bits < 32)) return Obstacle::yes;
    switch (access(instruction)) {
      case Access::uniform: return is_store || is_masked ? Obstacle::yes : Obstacle::no;
      case Access::consecutive: return Obstacle::no;
      case Access::anywhere:
        return is_store || is_masked || analysis_.shape(pointer).is_linear() ? Obstacle::yes : Obstacle::gather;
      default: return Obstacle::yes;
    }
  }
  if (const Shape shape = analysis_.shape(&instruction); shape.is_linear() && shape.only_as_address)
    return Obstacle::yes;
  if (analysis_.split().divisor || instruction.isIntDivRem()) return Obstacle::yes;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call) return Obstacle::no;
  switch (call_form(*call, analysis_, target_.library, target_.costs)) {
    case CallForm::dropped:
    case CallForm::identity:
    case CallForm::unknown:
    case CallForm::intrinsic: return Obstacle::no;
    case CallForm::math: return is_masked ? Obstacle::yes : Obstacle::no;
    default: return is_marker(*call) ? Obstacle::no : Obstacle::yes;
  }
}

std::string explain(const CostEstimate& cost, int lanes) {
  char text[160];
  std::snprintf(text, sizeof(text), "%d lanes would take about %.1f times as long as the scalar path", lanes,
                cost.vector / cost.scalar);
  return text;
}

}  // namespace

CostEstimate estimate(const LaneLoop& loop, const LaneAnalysis& analysis, const PrivateMemory& memory,
                      const WidenTarget& target) {
  const CostModel model(loop, analysis, memory, target);
  const Cost cost = model.estimate();
  CostEstimate result{.scalar = std::min(cost.scalar, model.loop_vectoriser_cycles()), .vector = cost.vector};
  const double worth_it = loop.loop->isInnermost() ? kWorthItWithoutLoops : kWorthIt;
  if (result.vector > worth_it * result.scalar) result.why_not = explain(result, analysis.lanes());
  result.is_uncertain =
      result.vector > kCertain * result.scalar || model.has_gathers() || model.has_idle_lanes(loop.body_region);
  result.is_doubtful = !result.why_not.empty() && result.vector < kMostDoubt * result.scalar;
  return result;
}

bool loop_vectoriser_suffices(const LaneLoop& loop, const LaneAnalysis& analysis, const PrivateMemory& memory,
                              const WidenTarget& target) {
  if (loop.body_region.nodes.size() != 1 || !memory.locals().empty()) return false;
  const CostModel model(loop, analysis, memory, target);
  bool has_written = false;
  for (const Instruction& instruction : *loop.body_region.nodes.front().block) {
    if (instruction.isAtomic() || instruction.isVolatile()) return false;
    // LLVM's loop vectoriser takes the emitter's promise to mean that no element reads what it wrote itself.
    if (llvm::isa<llvm::LoadInst>(instruction) && has_written) return false;
    has_written |= llvm::isa<llvm::StoreInst>(instruction);
    if (llvm::getLoadStorePointerOperand(&instruction)) {
      // Complex numbers are vectors of two, which LLVM's loop vectoriser cannot widen. For two doubles lanes gain
      // nothing.
      const llvm::Type* type = llvm::getLoadStoreType(&instruction);
      if (type->isVectorTy() && type->getScalarSizeInBits() < 64) return false;
      const Access access = model.access(instruction);
      const bool is_store = llvm::isa<llvm::StoreInst>(instruction);
      if (access != Access::consecutive && (is_store || access != Access::uniform)) return false;
      // A byte store may alias anything, including pointers that the loop reads.
      if (is_store && type->getScalarSizeInBits() <= 8) return false;
      continue;
    }
    const Shape shape = analysis.shape(&instruction);
    if (shape.is_linear() && shape.only_as_address) return false;
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call) continue;
    switch (call_form(*call, analysis, target.library, target.costs)) {
      case CallForm::division:
        if (shape.is_varying()) return false;
        break;
      case CallForm::prefetch: return false;
      case CallForm::lane_by_lane:
        if (!is_marker(*call)) return false;
        break;
      default: break;
    }
  }
  return true;
}

}  // namespace iruka::cpu_backend::spmd
