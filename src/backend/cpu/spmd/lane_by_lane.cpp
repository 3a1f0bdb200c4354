#include "backend/cpu/spmd/widener.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

namespace {

/// A vector of i1 is packed in memory; a lane alone can only be had from one byte a lane.
llvm::Type* lane_type(llvm::Type* type) {
  return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext()) : type;
}

}  // namespace

void Widener::for_each_active_lane(Value* mask, llvm::function_ref<void(Value*)> write) {
  BasicBlock* before = build_.GetInsertBlock();
  BasicBlock* header = new_block("lanes");
  BasicBlock* body = new_block("lane");
  BasicBlock* behind = new_block("behind");
  Value* left = mask ? bits_of(mask) : nullptr;
  go_to(header);
  llvm::PHINode* state = build_.CreatePHI(left ? left->getType() : build_.getInt32Ty(), 2);
  state->addIncoming(left ? left : build_.getInt32(0), before);
  Value* is_done = left ? build_.CreateICmpEQ(state, llvm::ConstantInt::get(left->getType(), 0))
                        : build_.CreateICmpEQ(state, build_.getInt32(lanes_));
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

llvm::AllocaInst* Widener::spilled(Value* vector) {
  auto* type = llvm::cast<llvm::FixedVectorType>(vector->getType());
  llvm::Type* element = lane_type(type->getElementType());
  llvm::AllocaInst* spill = new_slot(llvm::ArrayType::get(element, lanes_));
  spill->setAlignment(std::max(spill->getAlign(), lane_memory_align(element)));
  store_lanes(vector, spill);
  return spill;
}

Value* Widener::lane_value(llvm::AllocaInst* spill, llvm::Type* type, Value* lane) {
  Value* value = build_.CreateLoad(lane_type(type), build_.CreateGEP(lane_type(type), spill, lane));
  return value->getType() == type ? value : build_.CreateTrunc(value, type);
}

void Widener::store_lanes(Value* vector, llvm::AllocaInst* spill) {
  llvm::Type* element = llvm::cast<llvm::ArrayType>(spill->getAllocatedType())->getElementType();
  if (llvm::cast<llvm::VectorType>(vector->getType())->getElementType() != element) {
    vector = build_.CreateZExt(vector, llvm::FixedVectorType::get(element, lanes_));
  }
  if (has_vector_form(element)) {
    build_.CreateAlignedStore(vector, spill, spill->getAlign());
    return;
  }
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    build_.CreateStore(build_.CreateExtractElement(vector, lane), build_.CreateConstGEP1_32(element, spill, lane));
  }
}

Value* Widener::load_lanes(llvm::AllocaInst* spill, llvm::Type* type) {
  llvm::Type* element = llvm::cast<llvm::ArrayType>(spill->getAllocatedType())->getElementType();
  llvm::Type* lanes = llvm::FixedVectorType::get(element, lanes_);
  Value* result = nullptr;
  if (has_vector_form(element)) {
    result = build_.CreateAlignedLoad(lanes, spill, spill->getAlign());
  } else {
    result = llvm::Constant::getNullValue(lanes);
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      Value* value = build_.CreateLoad(element, build_.CreateConstGEP1_32(element, spill, lane));
      result = build_.CreateInsertElement(result, value, lane);
    }
  }
  return element == type ? result : build_.CreateTrunc(result, widened(type));
}

/// Memory for what each lane works out, of one array for a value and one for each member of a structure.
llvm::SmallVector<llvm::AllocaInst*, 2> Widener::lane_results(llvm::Type* type) {
  llvm::SmallVector<llvm::AllocaInst*, 2> results;
  const auto add = [&](llvm::Type* member) {
    results.push_back(spilled(llvm::Constant::getNullValue(llvm::FixedVectorType::get(member, lanes_))));
  };
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    for (llvm::Type* member : structure->elements()) add(member);
  } else {
    add(type);
  }
  return results;
}

void Widener::write_lane_by_lane(llvm::Instruction& instruction) {
  const auto is_copied = [&](const Value* operand) {
    return !llvm::isa<llvm::MetadataAsValue>(operand) && !llvm::isa<llvm::BasicBlock>(operand);
  };
  llvm::DenseMap<Value*, llvm::SmallVector<llvm::AllocaInst*, 2>> spills;
  for (Value* operand : instruction.operands()) {
    if (!is_copied(operand) || analysis_.is_uniform(operand) || spills.contains(operand)) continue;
    Value* lanes = vector(operand);
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
  if (has_result) results = lane_results(type);
  for_each_active_lane(mask_, [&](Value* lane) {
    llvm::Instruction* copy = instruction.clone();
    for (llvm::Use& operand : copy->operands()) {
      if (is_copied(operand)) operand.set(lane_operand(operand, spills.lookup(operand), lane));
    }
    build_.Insert(copy);
    if (!has_result) return;
    for (unsigned k = 0; k < results.size(); ++k) {
      Value* value = structure ? build_.CreateExtractValue(copy, k) : copy;
      llvm::Type* stored = lane_type(value->getType());
      if (stored != value->getType()) value = build_.CreateZExt(value, stored);
      build_.CreateStore(value, build_.CreateGEP(stored, results[k], lane));
    }
  });
  if (!has_result) return;
  Value* result = structure ? llvm::PoisonValue::get(widened(type)) : load_lanes(results[0], type);
  for (unsigned k = 0; structure && k < results.size(); ++k) {
    result = build_.CreateInsertValue(result, load_lanes(results[k], structure->getElementType(k)), k);
  }
  set_vector(&instruction, result);
}

/// An operand's value in one lane; uniform where nothing was spilled.
Value* Widener::lane_operand(Value* operand, llvm::ArrayRef<llvm::AllocaInst*> spills, Value* lane) {
  if (spills.empty()) return scalar(operand);
  auto* structure = llvm::dyn_cast<llvm::StructType>(operand->getType());
  if (!structure) return lane_value(spills[0], operand->getType(), lane);
  Value* result = llvm::PoisonValue::get(structure);
  for (unsigned k = 0; k < spills.size(); ++k) {
    result = build_.CreateInsertValue(result, lane_value(spills[k], structure->getElementType(k), lane), k);
  }
  return result;
}

}  // namespace iruka::cpu_backend::spmd
