#include "backend/cpu/spmd/lane_by_lane.h"

#include "backend/cpu/spmd/memory_types.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

LaneByLane::LaneByLane(LaneBuilder& build, LaneValues& values, const Body& body)
    : build_(build), values_(values), body_(body) {}

void LaneByLane::for_each_active_lane(Value* mask, llvm::function_ref<void(Value*)> write) {
  BasicBlock* before = build_.GetInsertBlock();
  BasicBlock* header = build_.new_block("lanes");
  BasicBlock* body = build_.new_block("lane");
  BasicBlock* behind = build_.new_block("behind");
  Value* left = mask ? build_.bits_of(mask) : nullptr;
  build_.go_to(header);
  llvm::PHINode* state = build_.CreatePHI(left ? left->getType() : build_.getInt32Ty(), 2);
  state->addIncoming(left ? left : build_.getInt32(0), before);
  Value* is_done = left ? build_.CreateICmpEQ(state, llvm::ConstantInt::get(left->getType(), 0))
                        : build_.CreateICmpEQ(state, build_.getInt32(build_.lanes()));
  build_.CreateCondBr(is_done, behind, body);
  build_.SetInsertPoint(body);
  Value *lane = state, *next = nullptr;
  if (left) {
    lane = build_.CreateIntrinsic(left->getType(), llvm::Intrinsic::cttz, {state, build_.getTrue()});
    lane = build_.CreateZExtOrTrunc(lane, build_.getInt32Ty());
    next = build_.CreateAnd(state, build_.CreateSub(state, llvm::ConstantInt::get(left->getType(), 1)));
  } else {
    next = build_.CreateAdd(state, build_.getInt32(1));
  }
  write(lane);
  state->addIncoming(next, build_.GetInsertBlock());
  build_.CreateBr(header);
  build_.SetInsertPoint(behind);
}

llvm::AllocaInst* LaneByLane::spilled(Value* vector) {
  auto* type = llvm::cast<llvm::FixedVectorType>(vector->getType());
  llvm::Type* element = memory_type(type->getElementType());
  llvm::AllocaInst* spill = build_.new_local(llvm::ArrayType::get(element, build_.lanes()));
  spill->setAlignment(std::max(spill->getAlign(), lane_memory_align(element, build_.lanes(), build_.layout())));
  store_lanes(vector, spill);
  return spill;
}

Value* LaneByLane::lane_value(llvm::AllocaInst* spill, llvm::Type* type, Value* lane) {
  Value* value = build_.CreateLoad(memory_type(type), build_.CreateGEP(memory_type(type), spill, lane));
  return value->getType() == type ? value : build_.CreateTrunc(value, type);
}

void LaneByLane::store_lanes(Value* vector, llvm::AllocaInst* spill) {
  llvm::Type* element = llvm::cast<llvm::ArrayType>(spill->getAllocatedType())->getElementType();
  if (llvm::cast<llvm::VectorType>(vector->getType())->getElementType() != element) {
    vector = build_.CreateZExt(vector, llvm::FixedVectorType::get(element, build_.lanes()));
  }
  if (has_vector_form(element, build_.layout())) {
    build_.CreateAlignedStore(vector, spill, spill->getAlign());
    return;
  }
  for (unsigned lane = 0; lane < build_.lanes(); ++lane) {
    build_.CreateStore(build_.CreateExtractElement(vector, lane), build_.CreateConstGEP1_32(element, spill, lane));
  }
}

Value* LaneByLane::load_lanes(llvm::AllocaInst* spill, llvm::Type* type) {
  llvm::Type* element = llvm::cast<llvm::ArrayType>(spill->getAllocatedType())->getElementType();
  llvm::Type* lanes = llvm::FixedVectorType::get(element, build_.lanes());
  Value* result = nullptr;
  if (has_vector_form(element, build_.layout())) {
    result = build_.CreateAlignedLoad(lanes, spill, spill->getAlign());
  } else {
    result = llvm::Constant::getNullValue(lanes);
    for (unsigned lane = 0; lane < build_.lanes(); ++lane) {
      Value* value = build_.CreateLoad(element, build_.CreateConstGEP1_32(element, spill, lane));
      result = build_.CreateInsertElement(result, value, lane);
    }
  }
  return element == type ? result : build_.CreateTrunc(result, build_.widened(type));
}

llvm::SmallVector<llvm::AllocaInst*, 2> LaneByLane::results_of(llvm::Type* type) {
  llvm::SmallVector<llvm::AllocaInst*, 2> results;
  const auto add = [&](llvm::Type* member) {
    results.push_back(spilled(llvm::Constant::getNullValue(llvm::FixedVectorType::get(member, build_.lanes()))));
  };
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    for (llvm::Type* member : structure->elements()) add(member);
  } else {
    add(type);
  }
  return results;
}

void LaneByLane::write(llvm::Instruction& instruction) {
  const auto is_copied = [&](const Value* operand) {
    return !llvm::isa<llvm::MetadataAsValue>(operand) && !llvm::isa<llvm::BasicBlock>(operand);
  };
  llvm::DenseMap<Value*, llvm::SmallVector<llvm::AllocaInst*, 2>> spills;
  for (Value* operand : instruction.operands()) {
    if (!is_copied(operand) || body_.analysis.is_uniform(operand) || spills.contains(operand)) continue;
    Value* lanes = values_.vector(operand);
    auto* structure = llvm::dyn_cast<llvm::StructType>(operand->getType());
    llvm::SmallVector<llvm::AllocaInst*, 2> members;
    for (unsigned k = 0; k < (structure ? structure->getNumElements() : 1); ++k) {
      members.push_back(spilled(structure ? build_.CreateExtractValue(lanes, k) : lanes));
    }
    spills[operand] = members;
  }
  llvm::Type* type = instruction.getType();
  auto* structure = llvm::dyn_cast<llvm::StructType>(type);
  const bool has_result = !type->isVoidTy() && !instruction.use_empty();
  llvm::SmallVector<llvm::AllocaInst*, 2> results;
  if (has_result) results = results_of(type);
  for_each_active_lane(build_.mask(), [&](Value* lane) {
    llvm::Instruction* copy = instruction.clone();
    for (llvm::Use& operand : copy->operands()) {
      if (is_copied(operand)) operand.set(lane_operand(operand, spills.lookup(operand), lane));
    }
    build_.Insert(copy);
    if (!has_result) return;
    for (unsigned k = 0; k < results.size(); ++k) {
      Value* value = structure ? build_.CreateExtractValue(copy, k) : copy;
      llvm::Type* stored = memory_type(value->getType());
      if (stored != value->getType()) value = build_.CreateZExt(value, stored);
      build_.CreateStore(value, build_.CreateGEP(stored, results[k], lane));
    }
  });
  if (!has_result) return;
  Value* result = structure ? llvm::PoisonValue::get(build_.widened(type)) : load_lanes(results[0], type);
  for (unsigned k = 0; structure && k < results.size(); ++k) {
    result = build_.CreateInsertValue(result, load_lanes(results[k], structure->getElementType(k)), k);
  }
  values_.set_vector(&instruction, result);
}

/// An operand's value in one lane; a uniform operand has no spills.
Value* LaneByLane::lane_operand(Value* operand, llvm::ArrayRef<llvm::AllocaInst*> spills, Value* lane) {
  if (spills.empty()) return values_.scalar(operand);
  auto* structure = llvm::dyn_cast<llvm::StructType>(operand->getType());
  if (!structure) return lane_value(spills[0], operand->getType(), lane);
  Value* result = llvm::PoisonValue::get(structure);
  for (unsigned k = 0; k < spills.size(); ++k) {
    result = build_.CreateInsertValue(result, lane_value(spills[k], structure->getElementType(k), lane), k);
  }
  return result;
}

}  // namespace iruka::cpu_backend::spmd
