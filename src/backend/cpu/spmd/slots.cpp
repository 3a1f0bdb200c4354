#include "backend/cpu/spmd/slots.h"

#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

Slots::Slots(LaneBuilder& build, const WidenTarget& target) : build_(build), target_(target) {}

llvm::AllocaInst* Slots::make(llvm::Type* type) {
  all_.push_back(build_.new_local(stored_type(type)));
  return all_.back();
}

llvm::Type* Slots::stored_type(llvm::Type* type) const {
  // Without mask registers a vector of i1 that crosses a block would be packed and unpacked.
  if (type != build_.mask_type() || target_.has_mask_registers) return type;
  return llvm::FixedVectorType::get(llvm::Type::getIntNTy(build_.function().getContext(), target_.lane_bits),
                                    build_.lanes());
}

void Slots::store(Value* value, llvm::AllocaInst* slot) {
  if (value->getType() != slot->getAllocatedType()) value = build_.CreateSExt(value, slot->getAllocatedType());
  build_.CreateStore(value, slot);
}

Value* Slots::load(llvm::AllocaInst* slot, llvm::Type* type) {
  Value* value = build_.CreateLoad(slot->getAllocatedType(), slot);
  if (value->getType() == type) return value;
  return build_.CreateICmpSLT(value, llvm::Constant::getNullValue(value->getType()));
}

}  // namespace iruka::cpu_backend::spmd
