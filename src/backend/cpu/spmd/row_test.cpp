#include "backend/cpu/spmd/row_test.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace iruka::cpu_backend::spmd {

using llvm::Instruction;
using llvm::Value;

RowTester::RowTester(LaneBuilder& build, LaneValues& values, const Body& body)
    : build_(build), values_(values), body_(body) {}

namespace {

constexpr int kDeepest = 8;

/// The operand of a binary instruction whose other operand is uniform, or null.
Value* varying_operand(const Instruction& instruction, const LaneAnalysis& analysis) {
  for (unsigned k = 0; k < 2; ++k) {
    if (analysis.is_uniform(instruction.getOperand(1 - k))) return instruction.getOperand(k);
  }
  return nullptr;
}

/// A positive constant that `value` is multiplied by, or 0.
int64_t factor_of(const Instruction& instruction) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  if (!number || number->getBitWidth() > 64 || number->getBitWidth() < 32) return 0;
  const int64_t value = number->getSExtValue();
  if (instruction.getOpcode() == Instruction::Mul) return value >= 2 && value <= 4 ? value : 0;
  return value == 1 || value == 2 ? int64_t{1} << value : 0;
}

/// What a value advances by from lane to lane where no clamp applies: sums with uniform values, minima, maxima and
/// multiples of a linear value. Such a value never decreases, so that its first and last lane determine the others. 0:
/// another value.
int64_t step_of_clamped(const Value* value, const LaneAnalysis& analysis, int depth = 0) {
  const Shape shape = analysis.shape(value);
  if (shape.is_linear()) return shape.stride >= 1 && shape.stride <= 4 && !shape.only_as_address ? shape.stride : 0;
  const auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!shape.is_varying() || !instruction || depth == kDeepest) return 0;
  const auto of_varying_operand = [&] {
    const Value* operand = varying_operand(*instruction, analysis);
    return operand ? step_of_clamped(operand, analysis, depth + 1) : 0;
  };
  switch (instruction->getOpcode()) {
    case Instruction::SExt:
    case Instruction::ZExt: return step_of_clamped(instruction->getOperand(0), analysis, depth + 1);
    case Instruction::Add: return of_varying_operand();
    case Instruction::Sub: return analysis.is_uniform(instruction->getOperand(1)) ? of_varying_operand() : 0;
    case Instruction::Mul:
    case Instruction::Shl: {
      const int64_t factor = factor_of(*instruction);
      return factor ? factor * step_of_clamped(instruction->getOperand(0), analysis, depth + 1) : 0;
    }
    default: return llvm::isa<llvm::MinMaxIntrinsic>(instruction) ? of_varying_operand() : 0;
  }
}

/// Whether a value is made by choices, mirroring or remainders of something that advances by one, or counts on from it
/// in a loop.
bool often_advances(const Value* value, const LaneAnalysis& analysis, int depth = 0) {
  const Shape shape = analysis.shape(value);
  if (shape.is_linear()) return shape.stride == 1;
  const auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!shape.is_varying() || !instruction || depth == kDeepest) return false;
  const auto does = [&](unsigned k) { return often_advances(instruction->getOperand(k), analysis, depth + 1); };
  if (const auto* counter = llvm::dyn_cast<llvm::PHINode>(instruction)) {
    if (counter->getNumIncomingValues() != 2) return false;
    for (unsigned k = 0; k < 2; ++k) {
      const auto* next = llvm::dyn_cast<Instruction>(counter->getIncomingValue(k));
      if (next && next->getOpcode() == Instruction::Add && next->getOperand(0) == counter &&
          analysis.is_uniform(next->getOperand(1)))
        return does(1 - k);
    }
    return false;
  }
  switch (instruction->getOpcode()) {
    case Instruction::SExt:
    case Instruction::ZExt: return does(0);
    case Instruction::Select: return does(1) || does(2);
    case Instruction::Add:
      return (does(0) && analysis.is_uniform(instruction->getOperand(1))) ||
             (does(1) && analysis.is_uniform(instruction->getOperand(0)));
    case Instruction::Sub:
    case Instruction::SRem:
    case Instruction::URem: return does(0) && analysis.is_uniform(instruction->getOperand(1));
    default: break;
  }
  const auto* call = llvm::dyn_cast<llvm::CallInst>(instruction);
  if (!call) return false;
  if (llvm::isa<llvm::MinMaxIntrinsic>(call)) return does(0) || does(1);
  if (call->getIntrinsicID() == llvm::Intrinsic::abs) return does(0);
  const auto opcode = division_opcode(*call);
  return opcode && (*opcode == Instruction::SRem || *opcode == Instruction::URem) && does(0) &&
         analysis.is_uniform(call->getArgOperand(1));
}

}  // namespace

/// A clamped value in one lane, without the vector. If `conditions` is not null, adds the conditions under which its
/// steps are those of step_of_clamped().
Value* RowTester::clamped_in_lane(Value* value, unsigned lane, llvm::SmallVectorImpl<Value*>* conditions) {
  const auto must_not_wrap = [&](Value* result, int64_t step) {
    if (!conditions) return;
    const unsigned bits = result->getType()->getIntegerBitWidth();
    const uint64_t way = static_cast<uint64_t>(step) * (build_.lanes() - 1);
    const llvm::APInt largest = llvm::APInt::getSignedMaxValue(bits);
    if (largest.ult(way)) return conditions->push_back(build_.getFalse());
    conditions->push_back(build_.CreateICmpSLE(result, llvm::ConstantInt::get(result->getType(), largest - way)));
  };
  const auto must_be_positive = [&](Value* operand) {
    if (conditions) conditions->push_back(build_.CreateICmpSGE(operand, llvm::ConstantInt::get(operand->getType(), 0)));
  };
  if (body_.analysis.is_uniform(value)) return values_.scalar(value);
  if (body_.analysis.shape(value).is_linear()) {
    Value* result = values_.in_lane(value, lane);
    must_not_wrap(result, body_.analysis.shape(value).stride);
    return result;
  }
  auto* instruction = llvm::cast<Instruction>(value);
  Value* a = clamped_in_lane(instruction->getOperand(0), lane, conditions);
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(instruction)) {
    if (llvm::isa<llvm::ZExtInst>(cast)) must_be_positive(a);
    return build_.CreateCast(cast->getOpcode(), a, cast->getType());
  }
  Value* b = clamped_in_lane(instruction->getOperand(1), lane, conditions);
  if (const auto* bound = llvm::dyn_cast<llvm::MinMaxIntrinsic>(instruction)) {
    if (!bound->isSigned()) must_be_positive(body_.analysis.is_uniform(instruction->getOperand(0)) ? b : a);
    return build_.CreateBinaryIntrinsic(bound->getIntrinsicID(), a, b);
  }
  const auto opcode = static_cast<Instruction::BinaryOps>(instruction->getOpcode());
  if (conditions && (opcode == Instruction::Mul || opcode == Instruction::Shl)) {
    // As far from the ends of the type as the product must be.
    const llvm::APInt limit = llvm::APInt::getSignedMaxValue(a->getType()->getIntegerBitWidth()).lshr(3);
    Value* place = build_.CreateAdd(a, llvm::ConstantInt::get(a->getType(), limit));
    conditions->push_back(build_.CreateICmpULE(place, llvm::ConstantInt::get(a->getType(), limit + limit - 256)));
  }
  Value* result = build_.CreateBinOp(opcode, a, b);
  if (opcode == Instruction::Add || opcode == Instruction::Sub) {
    must_not_wrap(result, step_of_clamped(value, body_.analysis));
  }
  return result;
}

/// The one index of an address that varies, where its elements are those that are read; else null. The others may stand
/// before and behind it.
Value* RowTester::only_varying_index(const Access& access) const {
  if (!access.has_vector_form || !access.shape.is_varying() || body_.memory.may_be_private(access.pointer))
    return nullptr;
  Value* varying = nullptr;
  Value* pointer = access.pointer;
  while (!body_.analysis.is_uniform(pointer)) {
    auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
    if (!address || !body_.loop.contains(address)) return nullptr;
    for (auto step = llvm::gep_type_begin(*address), end = llvm::gep_type_end(*address); step != end; ++step) {
      Value* index = step.getOperand();
      if (body_.analysis.is_uniform(index)) continue;
      const auto size = static_cast<int64_t>(step.getSequentialElementStride(build_.layout()).getFixedValue());
      if (varying || size != access.size || !body_.analysis.is_varying(index) || !index->getType()->isIntegerTy(64))
        return nullptr;
      varying = index;
    }
    pointer = address->getPointerOperand();
  }
  return varying;
}

/// Whether a clamped index's lanes are first, first + step, ...; by the first and the last lane.
Value* RowTester::advances_by(Value* index, int64_t step, Value*& first) {
  llvm::SmallVector<Value*, 8> conditions;
  first = clamped_in_lane(index, 0, &conditions);
  Value* last = clamped_in_lane(index, build_.lanes() - 1, nullptr);
  const uint64_t way = static_cast<uint64_t>(step) * (build_.lanes() - 1);
  Value* result = build_.CreateICmpEQ(build_.CreateSub(last, first), llvm::ConstantInt::get(index->getType(), way));
  for (Value* condition : conditions) result = build_.CreateAnd(result, condition);
  return result;
}

/// Whether any index's active lanes are first, first + 1, ...; by all of its lanes.
Value* RowTester::advances_everywhere(Value* index, Value*& first) {
  auto* cast = llvm::dyn_cast<llvm::CastInst>(index);
  const bool is_extended = cast && (llvm::isa<llvm::SExtInst>(cast) || llvm::isa<llvm::ZExtInst>(cast)) &&
                           body_.loop.contains(cast) && body_.analysis.is_varying(cast->getOperand(0));
  Value* all = values_.vector(is_extended ? cast->getOperand(0) : index);
  // The index of a lane that is not active may be poison, which must not decide a branch.
  if (build_.mask()) all = build_.CreateFreeze(all);
  first = build_.CreateExtractElement(all, uint64_t{0});
  Value* follows = build_.CreateICmpEQ(all, build_.advancing(first, 1));
  if (build_.mask()) follows = build_.CreateOr(follows, build_.CreateNot(build_.mask()));
  Value* result = build_.CreateICmpEQ(build_.bits_of(follows), build_.bits_of(nullptr));
  if (!is_extended) return result;
  // In the narrow type the lanes may wrap around.
  const llvm::APInt largest = llvm::APInt::getSignedMaxValue(first->getType()->getIntegerBitWidth());
  if (largest.ult(build_.lanes())) return build_.getFalse();
  Value* limit = llvm::ConstantInt::get(first->getType(), largest - build_.lanes());
  result = build_.CreateAnd(result, llvm::isa<llvm::SExtInst>(cast) ? build_.CreateICmpSLE(first, limit)
                                                                    : build_.CreateICmpULE(first, limit));
  first = build_.CreateCast(cast->getOpcode(), first, index->getType());
  return result;
}

RowTest RowTester::test(const Access& access) {
  RowTest test;
  test.index = only_varying_index(access);
  if (!test.index) return test;
  test.step = step_of_clamped(test.index, body_.analysis);
  if (test.step > 4 || (test.step > 1 && build_.mask())) return test;
  if (test.step != 0) {
    test.is_row = advances_by(test.index, test.step, test.first);
  } else if (often_advances(test.index, body_.analysis)) {
    test.is_row = advances_everywhere(test.index, test.first);
    test.step = 1;
  }
  return test;
}

Value* RowTester::first_address(Value* pointer, const RowTest& row) {
  if (body_.analysis.is_uniform(pointer)) return values_.scalar(pointer);
  auto* address = llvm::cast<llvm::GetElementPtrInst>(pointer);
  llvm::SmallVector<Value*, 4> indices;
  for (Value* step : address->indices()) {
    indices.push_back(step == row.index ? row.first : llvm::isa<llvm::Constant>(step) ? step : values_.scalar(step));
  }
  return build_.CreateGEP(address->getSourceElementType(), first_address(address->getPointerOperand(), row), indices);
}

}  // namespace iruka::cpu_backend::spmd
