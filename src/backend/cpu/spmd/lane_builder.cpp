#include "backend/cpu/spmd/lane_builder.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

LaneBuilder::LaneBuilder(const Body& body)
    : IRBuilder(body.loop.header->getContext()),
      target_(body.target),
      layout_(body.loop.header->getDataLayout()),
      function_(*body.loop.header->getParent()),
      exit_(body.loop.exit),
      lanes_(static_cast<unsigned>(body.analysis.lanes())) {}

BasicBlock* LaneBuilder::new_block(const char* name) {
  return BasicBlock::Create(getContext(), name, &function_, exit_);
}

void LaneBuilder::go_to(BasicBlock* block) {
  CreateBr(block);
  SetInsertPoint(block);
}

llvm::AllocaInst* LaneBuilder::new_local(llvm::Type* type) {
  llvm::BasicBlock& entry = function_.getEntryBlock();
  return new llvm::AllocaInst(type, 0, nullptr, layout_.getPrefTypeAlign(type), "", entry.getFirstInsertionPt());
}

llvm::Type* LaneBuilder::widened(llvm::Type* type) const {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<llvm::Type*, 4> members;
    for (llvm::Type* member : structure->elements()) members.push_back(widened(member));
    return llvm::StructType::get(type->getContext(), members);
  }
  return llvm::FixedVectorType::get(type, lanes_);
}

llvm::Type* LaneBuilder::mask_type() const {
  return llvm::FixedVectorType::get(llvm::Type::getInt1Ty(function_.getContext()), lanes_);
}

Value* LaneBuilder::full_mask() const { return llvm::Constant::getAllOnesValue(mask_type()); }

Value* LaneBuilder::splat(Value* value) {
  auto* structure = llvm::dyn_cast<llvm::StructType>(value->getType());
  if (!structure) return CreateVectorSplat(lanes_, value);
  Value* result = llvm::PoisonValue::get(widened(structure));
  for (unsigned k = 0; k < structure->getNumElements(); ++k) {
    result = CreateInsertValue(result, splat(CreateExtractValue(value, k)), k);
  }
  return result;
}

Value* LaneBuilder::advancing(Value* first, int64_t stride) {
  llvm::Type* type = first->getType();
  llvm::Type* number = type->isPointerTy() ? getInt64Ty() : type;
  llvm::SmallVector<llvm::Constant*, 64> steps;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    const llvm::APInt step(64, static_cast<uint64_t>(stride) * lane);
    steps.push_back(llvm::ConstantInt::get(number, step.zextOrTrunc(number->getIntegerBitWidth())));
  }
  Value* offsets = llvm::ConstantVector::get(steps);
  if (type->isPointerTy()) return CreateGEP(getInt8Ty(), first, offsets);
  return CreateAdd(CreateVectorSplat(lanes_, first), offsets);
}

Value* LaneBuilder::blend(Value* mask, Value* chosen, Value* otherwise) {
  auto* structure = llvm::dyn_cast<llvm::StructType>(chosen->getType());
  if (!mask) return chosen;
  if (!structure) return CreateSelect(mask, chosen, otherwise);
  Value* result = otherwise;
  for (unsigned k = 0; k < structure->getNumElements(); ++k) {
    Value* member = blend(mask, CreateExtractValue(chosen, k), CreateExtractValue(otherwise, k));
    result = CreateInsertValue(result, member, k);
  }
  return result;
}

Value* LaneBuilder::part_of(Value* vector, unsigned from, unsigned count) {
  if (count == lanes_) return vector;
  return CreateShuffleVector(vector, llvm::createSequentialMask(from, count, 0));
}

Value* LaneBuilder::mask_and(Value* mask, Value* condition) {
  if (!condition) return mask;
  if (!mask) return condition;
  return CreateAnd(mask, condition);
}

Value* LaneBuilder::any(Value* mask) {
  if (!mask) return getTrue();
  // Registers are joined before they are tested: one test instead of a packed mask.
  unsigned count = lanes_;
  for (; !target_.has_mask_registers && count > 1 && count * target_.lane_bits > unsigned(target_.vector_bytes) * 8;
       count /= 2) {
    llvm::SmallVector<int, 64> low(count / 2), high(count / 2);
    for (unsigned lane = 0; lane < count / 2; ++lane) {
      low[lane] = static_cast<int>(lane);
      high[lane] = static_cast<int>(lane + count / 2);
    }
    mask = CreateOr(CreateShuffleVector(mask, low), CreateShuffleVector(mask, high));
  }
  return CreateICmpNE(CreateBitCast(mask, getIntNTy(count)), getIntN(count, 0));
}

Value* LaneBuilder::bits_of(Value* mask) {
  llvm::Type* type = getIntNTy(lanes_);
  return mask ? CreateBitCast(mask, type) : llvm::Constant::getAllOnesValue(type);
}

Value* LaneBuilder::reversed(Value* mask) { return mask ? CreateVectorReverse(mask) : nullptr; }

/// All lanes are tested in one integer, because callers test one after the other.
Value* LaneBuilder::is_active(unsigned lane) {
  Value* bits = bits_of(mask_);
  const llvm::APInt bit = llvm::APInt::getOneBitSet(lanes_, lane);
  return CreateICmpNE(CreateAnd(bits, llvm::ConstantInt::get(bits->getType(), bit)),
                      llvm::Constant::getNullValue(bits->getType()));
}

}  // namespace iruka::cpu_backend::spmd
