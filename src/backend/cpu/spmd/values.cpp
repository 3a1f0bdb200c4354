#include "backend/cpu/spmd/widener.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

Widener::Widener(const LaneLoop& loop, const PrivateMemory& memory, const LaneAnalysis& analysis, const WidenTarget& target)
    : loop_(loop),
      memory_(memory),
      analysis_(analysis),
      target_(target),
      layout_(loop.header->getDataLayout()),
      function_(*loop.header->getParent()),
      lanes_(static_cast<unsigned>(analysis.lanes())),
      build_(function_.getContext()),
      assumptions_(function_) {}

llvm::BasicBlock* Widener::write(llvm::BasicBlock* block, const BodyStart& start) {
  start_ = start;
  first_ = new_block("lanes");
  build_.SetInsertPoint(block);
  go_to(first_);
  go_to(new_block("body"));
  set_scalar(loop_.counter, start.counter);
  write_node(loop_.body_region, 0, start.mask);
  return build_.GetInsertBlock();
}

Value* Widener::scalar(Value* value) {
  if (const auto found = scalars_.find(value); found != scalars_.end()) return found->second;
  auto* local = llvm::dyn_cast<llvm::AllocaInst>(value);
  if (local && memory_.find(local)) {
    write_local(*local);
    return scalars_.lookup(value);
  }
  return value;
}

Value* Widener::vector(Value* value) {
  if (const auto found = vectors_.find(value); found != vectors_.end()) return found->second;
  const Shape shape = analysis_.shape(value);
  Value* first = scalar(value);
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(first); constant && shape.is_uniform()) {
    if (!constant->getType()->isStructTy()) return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), constant);
  }
  llvm::IRBuilder<>::InsertPointGuard guard(build_);
  auto* definition = llvm::dyn_cast<llvm::Instruction>(first);
  const bool is_outside = first == value || !definition || definition == start_.counter || definition == start_.quotient ||
                          definition == start_.remainder || llvm::isa<llvm::AllocaInst>(first);
  if (is_outside) {
    build_.SetInsertPoint(first_, first_->getFirstInsertionPt());
    if (!first_->empty()) build_.SetInsertPoint(first_->getTerminator());
  } else if (const auto behind = definition->getInsertionPointAfterDef()) {
    build_.SetInsertPoint(*behind);
  } else {
    build_.SetInsertPoint(definition->getParent());  // the last so far, in the block being written
  }
  Value* lanes = shape.is_linear() ? lanes_of(first, shape.stride) : splat(first);
  set_vector(value, lanes);
  return lanes;
}

llvm::Type* Widener::widened(llvm::Type* type) const {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<llvm::Type*, 4> members;
    for (llvm::Type* member : structure->elements()) members.push_back(widened(member));
    return llvm::StructType::get(type->getContext(), members);
  }
  return llvm::FixedVectorType::get(type, lanes_);
}

Value* Widener::splat(Value* value) {
  auto* structure = llvm::dyn_cast<llvm::StructType>(value->getType());
  if (!structure) return build_.CreateVectorSplat(lanes_, value);
  Value* result = llvm::PoisonValue::get(widened(structure));
  for (unsigned k = 0; k < structure->getNumElements(); ++k) {
    result = build_.CreateInsertValue(result, splat(build_.CreateExtractValue(value, k)), k);
  }
  return result;
}

Value* Widener::lanes_of(Value* first, int64_t stride) {
  llvm::Type* type = first->getType();
  llvm::Type* number = type->isPointerTy() ? build_.getInt64Ty() : type;
  llvm::SmallVector<llvm::Constant*, 64> steps;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    const llvm::APInt step(64, static_cast<uint64_t>(stride) * lane);
    steps.push_back(llvm::ConstantInt::get(number, step.zextOrTrunc(number->getIntegerBitWidth())));
  }
  Value* offsets = llvm::ConstantVector::get(steps);
  if (type->isPointerTy()) return build_.CreateGEP(build_.getInt8Ty(), first, offsets);
  return build_.CreateAdd(build_.CreateVectorSplat(lanes_, first), offsets);
}

Value* Widener::blend(Value* mask, Value* chosen, Value* otherwise) {
  auto* structure = llvm::dyn_cast<llvm::StructType>(chosen->getType());
  if (!mask) return chosen;
  if (!structure) return build_.CreateSelect(mask, chosen, otherwise);
  Value* result = otherwise;
  for (unsigned k = 0; k < structure->getNumElements(); ++k) {
    Value* member = blend(mask, build_.CreateExtractValue(chosen, k), build_.CreateExtractValue(otherwise, k));
    result = build_.CreateInsertValue(result, member, k);
  }
  return result;
}

llvm::AllocaInst* Widener::new_slot(llvm::Type* type) {
  llvm::BasicBlock& entry = function_.getEntryBlock();
  return new llvm::AllocaInst(type, 0, nullptr, layout_.getPrefTypeAlign(type), "", entry.getFirstInsertionPt());
}

Value* Widener::mask_and(Value* mask, Value* condition) {
  if (!condition) return mask;
  if (!mask) return condition;
  return build_.CreateAnd(mask, condition);
}

Value* Widener::any(Value* mask) {
  if (!mask) return build_.getTrue();
  // Registers are joined before they are tested: one test instead of a packed mask.
  unsigned count = lanes_;
  for (; !target_.has_mask_registers && count > 1 && count * target_.lane_bits > unsigned(target_.vector_bytes) * 8; count /= 2) {
    llvm::SmallVector<int, 64> low(count / 2), high(count / 2);
    for (unsigned lane = 0; lane < count / 2; ++lane) {
      low[lane] = static_cast<int>(lane);
      high[lane] = static_cast<int>(lane + count / 2);
    }
    mask = build_.CreateOr(build_.CreateShuffleVector(mask, low), build_.CreateShuffleVector(mask, high));
  }
  return build_.CreateICmpNE(build_.CreateBitCast(mask, build_.getIntNTy(count)), build_.getIntN(count, 0));
}

Value* Widener::bits_of(Value* mask) {
  llvm::Type* type = build_.getIntNTy(lanes_);
  return mask ? build_.CreateBitCast(mask, type) : llvm::Constant::getAllOnesValue(type);
}

Value* Widener::full_mask() const { return llvm::Constant::getAllOnesValue(mask_type()); }

llvm::Type* Widener::mask_type() const {
  return llvm::FixedVectorType::get(llvm::Type::getInt1Ty(function_.getContext()), lanes_);
}

llvm::Type* Widener::stored_type(llvm::Type* type) const {
  // Without mask registers a vector of i1 that crosses a block would be packed and unpacked.
  if (type != mask_type() || target_.has_mask_registers) return type;
  return llvm::FixedVectorType::get(llvm::Type::getIntNTy(function_.getContext(), target_.lane_bits), lanes_);
}

void Widener::store(Value* value, llvm::AllocaInst* slot) {
  if (value->getType() != slot->getAllocatedType()) value = build_.CreateSExt(value, slot->getAllocatedType());
  build_.CreateStore(value, slot);
}

Value* Widener::load(llvm::AllocaInst* slot, llvm::Type* type) {
  Value* value = build_.CreateLoad(slot->getAllocatedType(), slot);
  if (value->getType() == type) return value;
  return build_.CreateICmpSLT(value, llvm::Constant::getNullValue(value->getType()));
}

}  // namespace iruka::cpu_backend::spmd
