#include "backend/cpu/spmd/lane_values.h"

#include "backend/cpu/spmd/memory_types.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

LaneValues::LaneValues(LaneBuilder& build, const Body& body, const BodyStart& start)
    : build_(build), body_(body), start_(start) {}

void LaneValues::open(llvm::BasicBlock* block) {
  first_ = build_.new_block("lanes");
  build_.SetInsertPoint(block);
  build_.go_to(first_);
  build_.go_to(build_.new_block("body"));
  set_scalar(body_.loop.counter, start_.counter);
}

Value* LaneValues::scalar(Value* value) {
  if (const auto found = scalars_.find(value); found != scalars_.end()) return found->second;
  auto* local = llvm::dyn_cast<llvm::AllocaInst>(value);
  if (local && body_.memory.find(local)) {
    write_local(*local);
    return scalars_.lookup(value);
  }
  return value;
}

Value* LaneValues::vector(Value* value) {
  if (const auto found = vectors_.find(value); found != vectors_.end()) return found->second;
  const Shape shape = body_.analysis.shape(value);
  Value* first = scalar(value);
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(first); constant && shape.is_uniform()) {
    if (!constant->getType()->isStructTy())
      return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(build_.lanes()), constant);
  }
  llvm::IRBuilder<>::InsertPointGuard guard(build_);
  auto* definition = llvm::dyn_cast<llvm::Instruction>(first);
  const bool is_outside = first == value || !definition || definition == start_.counter ||
                          definition == start_.quotient || definition == start_.remainder ||
                          llvm::isa<llvm::AllocaInst>(first);
  if (is_outside) {
    build_.SetInsertPoint(first_, first_->getFirstInsertionPt());
    if (!first_->empty()) build_.SetInsertPoint(first_->getTerminator());
  } else if (const auto behind = definition->getInsertionPointAfterDef()) {
    build_.SetInsertPoint(*behind);
  } else {
    build_.SetInsertPoint(definition->getParent());  // the last so far, in the block being written
  }
  Value* lanes = shape.is_linear() ? build_.advancing(first, shape.stride) : build_.splat(first);
  set_vector(value, lanes);
  return lanes;
}

Value* LaneValues::in_lane(Value* value, unsigned lane) {
  const Shape shape = body_.analysis.shape(value);
  if (shape.is_uniform()) return scalar(value);
  if (shape.is_linear() && !shape.only_as_address) {
    const auto distance = static_cast<uint64_t>(shape.stride) * lane;
    if (value->getType()->isPointerTy()) {
      return build_.CreateGEP(build_.getInt8Ty(), scalar(value), build_.getInt64(distance));
    }
    const llvm::APInt step = llvm::APInt(64, distance).zextOrTrunc(value->getType()->getIntegerBitWidth());
    return build_.CreateAdd(scalar(value), llvm::ConstantInt::get(value->getType(), step));
  }
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(value);
  if (address && body_.loop.contains(address) && !body_.memory.is_side_by_side(address)) {
    llvm::SmallVector<Value*, 4> indices;
    for (Value* index : address->indices()) {
      indices.push_back(llvm::isa<llvm::Constant>(index) ? index : in_lane(index, lane));
    }
    return build_.CreateGEP(address->getSourceElementType(), in_lane(address->getPointerOperand(), lane), indices);
  }
  // Extracting a lane from the narrow vector takes fewer registers.
  auto* cast = llvm::dyn_cast<llvm::CastInst>(value);
  const bool is_extension = cast && (llvm::isa<llvm::SExtInst>(cast) || llvm::isa<llvm::ZExtInst>(cast));
  if (is_extension && body_.loop.contains(cast) && body_.analysis.is_varying(cast->getOperand(0))) {
    Value* narrow = build_.CreateExtractElement(vector(cast->getOperand(0)), lane);
    return build_.CreateCast(cast->getOpcode(), narrow, value->getType());
  }
  return build_.CreateExtractElement(vector(value), lane);
}

Value* LaneValues::stored_vector(Value* value) {
  Value* lanes = vector(value);
  return value->getType()->isIntegerTy(1) ? build_.CreateZExt(lanes, build_.widened(build_.getInt8Ty())) : lanes;
}

void LaneValues::write_local(llvm::AllocaInst& local) {
  const PrivateLayout& layout = *body_.memory.find(&local);
  llvm::AllocaInst* lanes =
      build_.new_local(llvm::ArrayType::get(build_.getInt8Ty(), static_cast<uint64_t>(layout.size) * build_.lanes()));
  llvm::Align align = local.getAlign();
  if (layout.granule)
    align = std::max(align, lane_memory_align(build_.getIntNTy(static_cast<unsigned>(layout.granule) * 8),
                                              build_.lanes(), build_.layout()));
  lanes->setAlignment(align);
  set_scalar(&local, lanes);
}

}  // namespace iruka::cpu_backend::spmd
