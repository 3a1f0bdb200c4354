#include "backend/cpu/spmd/cost.h"

#include <algorithm>
#include <cstdio>

#include "backend/cpu/compiler/guard_pass.h"
#include "backend/cpu/spmd/address.h"
#include "backend/cpu/spmd/calls.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"

// Arithmetic costs what LLVM's model of the processor says; the rest are figures for the processors at hand.
namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;
using llvm::Value;
using Costs = llvm::TargetTransformInfo;

constexpr double kUnknownRounds = 10;       ///< of a loop
constexpr double kIdleLanes = 1.3;          ///< a loop that lanes leave in different rounds runs for the last of them
constexpr double kMispredicted = 2.5;       ///< of a branch that depends on the data, on average
constexpr double kMathCall = 50;            ///< a function of the math library, of a number
constexpr double kVectorMathCall = 45;      ///< of a register
constexpr double kDivision = 10, kLongDivision = 14;  ///< of an integer, guarded
constexpr double kRegisterOfQuotients = 14;           ///< through doubles
constexpr double kLaneByLane = 6;           ///< to take a lane's operands out and put its result in
constexpr double kWorthIt = 0.95;

/// What an instruction costs W elements.
struct Cost {
  double scalar = 0, vector = 0;
};

enum class Access : uint8_t { uniform, consecutive, interleaved, anywhere };

class CostModel {
 public:
  CostModel(const LaneLoop& loop, const LaneAnalysis& analysis, const PrivateMemory& memory, const WidenTarget& target)
      : loop_(loop),
        analysis_(analysis),
        memory_(memory),
        target_(target),
        layout_(loop.header->getDataLayout()),
        lanes_(static_cast<unsigned>(analysis.lanes())) {}

  Cost estimate() {
    add_region(loop_.body_region, 1, 1);
    return total_;
  }

  Access access(const Instruction& instruction) const {
    const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    const Shape shape = analysis_.shape(pointer);
    if (shape.is_uniform()) return Access::uniform;
    if (!shape.is_linear()) return Access::anywhere;
    const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(llvm::getLoadStoreType(&instruction)).getFixedValue());
    if (shape.stride == size) return Access::consecutive;
    const bool is_group = shape.stride > 0 && shape.stride % size == 0 && shape.stride <= 4 * size;
    return is_group && !memory_.layout_of(pointer) ? Access::interleaved : Access::anywhere;
  }

 private:
  void add_region(const Region& region, double scalar_weight, double vector_weight);
  void add_block(const llvm::BasicBlock& block, double scalar_weight, double vector_weight);
  double rounds(const llvm::Loop& loop) const;
  bool is_vectorised_inside(const llvm::Loop& loop) const;
  Cost cost(const Instruction& instruction) const;
  Cost branch_cost(const Instruction& branch) const;
  Cost access_cost(const Instruction& instruction) const;
  Cost call_cost(const llvm::CallInst& call) const;
  Cost division_cost(const Instruction& division, const Value* divisor) const;
  double vector_arithmetic(const Instruction& instruction) const;
  double vector_intrinsic(const llvm::CallInst& call) const;

  llvm::Type* widened(llvm::Type* type) const {
    return llvm::VectorType::isValidElementType(type) ? llvm::FixedVectorType::get(type, lanes_) : type;
  }
  /// Registers that W values of a type fill.
  double registers(const llvm::Type* type) const {
    const double bits = static_cast<double>(type->isPointerTy() ? 64 : std::max(type->getScalarSizeInBits(), 8u)) * lanes_;
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
  Cost total_;
};

/// How often nodes run: a side that lanes choose runs for half of the elements, but for nearly every vector.
void CostModel::add_region(const Region& region, double scalar_weight, double vector_weight) {
  std::vector<Cost> weights(region.nodes.size());
  for (size_t k = 0; k < region.nodes.size(); ++k) {
    const Node& node = region.nodes[k];
    Cost weight{scalar_weight, vector_weight};
    if (k > 0 && node.dominator != Node::kOutside) weight = weights[node.dominator];
    const Reach reach = k > 0 ? analysis_.reach(node.block) : Reach::always;
    if (reach != Reach::always) weight.scalar *= 0.5;
    if (reach == Reach::uniform) weight.vector *= 0.5;
    weights[k] = weight;
    if (!node.loop) {
      add_block(*node.block, weight.scalar, weight.vector);
      continue;
    }
    const double times = rounds(*node.loop);
    const double alone = is_vectorised_inside(*node.loop) ? target_.vector_bytes / 4.0 : 1;
    add_region(loop_.region(node.loop), weight.scalar * times / alone,
               weight.vector * times * (analysis_.is_divergent(node.loop) ? kIdleLanes : 1));
  }
}

void CostModel::add_block(const llvm::BasicBlock& block, double scalar_weight, double vector_weight) {
  for (const Instruction& instruction : block) {
    const Cost cost = this->cost(instruction);
    total_.scalar += scalar_weight * cost.scalar;
    total_.vector += vector_weight * cost.vector;
  }
}

/// Of a loop that counts from one constant to another.
double CostModel::rounds(const llvm::Loop& loop) const {
  const llvm::BasicBlock* exiting = loop.getExitingBlock();
  const llvm::BasicBlock *latch = loop.getLoopLatch(), *preheader = loop.getLoopPreheader();
  const auto* branch = exiting ? llvm::dyn_cast<llvm::BranchInst>(exiting->getTerminator()) : nullptr;
  const auto* compare = branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
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

/// Whether LLVM's vectoriser takes an inner loop of the scalar path: one block that walks memory in order, and carries
/// nothing but integers, which may be added up in any order, from round to round.
bool CostModel::is_vectorised_inside(const llvm::Loop& loop) const {
  if (loop.getNumBlocks() != 1) return false;
  bool has_access = false;
  for (const Instruction& instruction : *loop.getHeader()) {
    if (llvm::isa<llvm::PHINode>(instruction) && !instruction.getType()->isIntegerTy()) return false;
    if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) return false;
    const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer) {
      if (instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::AssumeInst>(instruction)) return false;
      continue;
    }
    has_access = true;
    const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(llvm::getLoadStoreType(&instruction)).getFixedValue());
    const AddressSum sum = take_apart(pointer, layout_, [](const Value*) { return true; });
    int64_t step = 0;
    for (const auto& [value, scale] : sum.terms) {
      const auto* term = llvm::dyn_cast<Instruction>(value);
      if (!term || !loop.contains(term)) continue;
      if (!llvm::isa<llvm::PHINode>(term)) return false;
      step += scale;
    }
    const bool is_store = llvm::isa<llvm::StoreInst>(instruction);
    if (step != size && (is_store || step != 0)) return false;
  }
  return has_access;
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
      // The scalar address is a part of the access.
      return {0, shape.is_varying() ? registers(instruction.getType()) : 0};
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
      if (shape.is_varying()) return division_cost(instruction, instruction.getOperand(1));
      break;
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg: {
      constexpr double kAtomic = 18;
      return {kAtomic * lanes_, (kAtomic + kLaneByLane) * lanes_};
    }
    default: break;
  }
  const double once = scalar_cost(instruction);
  if (!shape.is_varying()) {
    // Ahead of the loop over the elements where nothing in it changes the operands.
    const bool is_outside = shape.is_uniform() && loop_.loops->getLoopFor(instruction.getParent()) == loop_.loop;
    return {is_outside ? 0 : once * lanes_, once};
  }
  return {once * lanes_, vector_arithmetic(instruction)};
}

Cost CostModel::branch_cost(const Instruction& branch) const {
  const auto* conditional = llvm::dyn_cast<llvm::BranchInst>(&branch);
  if (!conditional || !conditional->isConditional()) return {};
  if (!analysis_.has_varying_branch(branch.getParent())) return {static_cast<double>(lanes_), 1};
  const double masks = std::max(1.0, static_cast<double>(target_.lane_bits * lanes_) / (8.0 * target_.vector_bytes));
  const llvm::Loop* loop = loop_.loops->getLoopFor(branch.getParent());
  const bool leaves = loop != loop_.loop && loop->isLoopExiting(branch.getParent());
  return {(leaves ? 1 : 1 + kMispredicted) * lanes_, 2 * masks + 2};
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
    case Access::anywhere: break;
  }
  auto* vector = llvm::dyn_cast<llvm::VectorType>(widened(type));
  const llvm::Align align = llvm::getLoadStoreAlignment(&instruction);
  if (is_store) {
    const bool native = vector && target_.costs.isLegalMaskedScatter(vector, align) &&
                        !target_.costs.forceScalarizeMaskedScatter(vector, align);
    return {one_by_one, (native ? 1.5 : 2 + 4 * masked) * lanes_};
  }
  const bool native = vector && target_.costs.isLegalMaskedGather(vector, align) &&
                      !target_.costs.forceScalarizeMaskedGather(vector, align);
  return {one_by_one, (native ? 1 : 2 + masked) * lanes_};
}

Cost CostModel::division_cost(const Instruction& division, const Value* divisor) const {
  const unsigned bits = division.getType()->getIntegerBitWidth();
  if (llvm::isa<llvm::ConstantInt>(divisor)) return {4.0 * lanes_, bits > 32 ? 6.0 * lanes_ : 6 * registers(division.getType())};
  if (bits > 32) return {kLongDivision * lanes_, (kLongDivision + kLaneByLane / 2) * lanes_};
  const double doubles = lanes_ * 8.0 / target_.vector_bytes;
  return {kDivision * lanes_, kRegisterOfQuotients * std::max(1.0, doubles)};
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
      return {kMathCall * lanes_, is_uniform ? kMathCall : kVectorMathCall * std::max(1.0, registers(call.getType()))};
    case CallForm::intrinsic: {
      const double once = scalar_cost(call);
      return {once * lanes_, is_uniform ? once : vector_intrinsic(call)};
    }
    case CallForm::lane_by_lane: break;
  }
  // The marker of the loop itself costs nothing.
  if (call.getType()->isVoidTy() && call.onlyAccessesInaccessibleMemory()) return {};
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
    return number(target_.costs.getCmpSelInstrCost(compare->getOpcode(), compared, type, compare->getPredicate(), kKind));
  }
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    llvm::Type* condition = widened(select->getCondition()->getType());
    return number(target_.costs.getCmpSelInstrCost(select->getOpcode(), type, condition, llvm::CmpInst::BAD_ICMP_PREDICATE, kKind));
  }
  if (instruction.isBinaryOp() || instruction.isUnaryOp()) {
    const auto info = [](const Value* value) { return Costs::getOperandInfo(value); };
    const unsigned last = instruction.getNumOperands() - 1;
    Costs::OperandValueInfo second = info(instruction.getOperand(last));
    if (analysis_.is_uniform(instruction.getOperand(last)) && second.Kind == Costs::OK_AnyValue) second.Kind = Costs::OK_UniformValue;
    return number(target_.costs.getArithmeticInstrCost(instruction.getOpcode(), type, kKind, info(instruction.getOperand(0)), second));
  }
  return llvm::isa<llvm::ExtractValueInst>(instruction) || llvm::isa<llvm::InsertValueInst>(instruction) ||
                 llvm::isa<llvm::FreezeInst>(instruction)
             ? 0
             : (1 + kLaneByLane) * lanes_;
}

double CostModel::vector_intrinsic(const llvm::CallInst& call) const {
  llvm::SmallVector<llvm::Type*, 4> types;
  for (const Value* argument : call.args()) types.push_back(widened(argument->getType()));
  llvm::Type* result = call.getType()->isStructTy() ? nullptr : widened(call.getType());
  if (!result) return 4 * registers(call.getArgOperand(0)->getType());
  const llvm::IntrinsicCostAttributes attributes(call.getIntrinsicID(), result, types);
  return number(target_.costs.getIntrinsicInstrCost(attributes, Costs::TCK_RecipThroughput));
}

std::string explain(const Cost& cost, int lanes) {
  char text[128];
  std::snprintf(text, sizeof(text), "%d elements side by side would take about %.1f times as long as one after the other", lanes,
                cost.vector / cost.scalar);
  return text;
}

}  // namespace

CostEstimate estimate(const LaneLoop& loop, const LaneAnalysis& analysis, const PrivateMemory& memory,
                      const WidenTarget& target) {
  const Cost cost = CostModel(loop, analysis, memory, target).estimate();
  CostEstimate result{cost.scalar, cost.vector, {}};
  if (cost.vector > kWorthIt * cost.scalar) result.why_not = explain(cost, analysis.lanes());
  return result;
}

bool loop_vectoriser_suffices(const LaneLoop& loop, const LaneAnalysis& analysis, const PrivateMemory& memory,
                              const WidenTarget& target) {
  if (loop.body_region.nodes.size() != 1 || !memory.locals().empty()) return false;
  const CostModel model(loop, analysis, memory, target);
  for (const Instruction& instruction : *loop.body_region.nodes.front().block) {
    if (instruction.isAtomic() || instruction.isVolatile()) return false;
    if (llvm::getLoadStorePointerOperand(&instruction)) {
      const Access access = model.access(instruction);
      const bool is_store = llvm::isa<llvm::StoreInst>(instruction);
      if (access != Access::consecutive && (is_store || access != Access::uniform)) return false;
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
        if (!call->getType()->isVoidTy() || !call->onlyAccessesInaccessibleMemory()) return false;
        break;
      default: break;
    }
  }
  return true;
}

}  // namespace iruka::cpu_backend::spmd
