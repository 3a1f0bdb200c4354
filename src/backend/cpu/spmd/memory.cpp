#include "backend/cpu/spmd/memory_types.h"
#include "backend/cpu/spmd/widener.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr uint64_t kSmallestPage = 4096;
constexpr uint64_t kLargestAlign = 64;  ///< of what the widest registers hold

}  // namespace

bool Widener::has_vector_form(llvm::Type* type) const { return spmd::has_vector_form(type, layout_); }

/// Of W elements side by side in memory of our own.
llvm::Align Widener::lane_memory_align(llvm::Type* element) const {
  const uint64_t size = layout_.getTypeAllocSize(element).getFixedValue();
  return llvm::Align(std::min<uint64_t>(kLargestAlign, uint64_t{1} << llvm::countr_zero(size * lanes_)));
}

void Widener::write_local(llvm::AllocaInst& local) {
  const PrivateLayout& layout = *memory_.find(&local);
  llvm::AllocaInst* lanes = new_slot(llvm::ArrayType::get(build_.getInt8Ty(), static_cast<uint64_t>(layout.size) * lanes_));
  llvm::Align align = local.getAlign();
  if (layout.granule) align = std::max(align, lane_memory_align(build_.getIntNTy(static_cast<unsigned>(layout.granule) * 8)));
  lanes->setAlignment(align);
  set_scalar(&local, lanes);
}

Widener::Access Widener::access_of(const llvm::Instruction& instruction) const {
  Access access;
  access.pointer = const_cast<Value*>(llvm::getLoadStorePointerOperand(&instruction));
  access.type = memory_type(llvm::getLoadStoreType(&instruction));
  access.align = llvm::getLoadStoreAlignment(&instruction);
  access.size = static_cast<int64_t>(layout_.getTypeStoreSize(access.type).getFixedValue());
  access.shape = analysis_.shape(access.pointer);
  access.aliases = instruction.getAAMetadata();
  access.has_vector_form = has_vector_form(access.type);
  const PrivateLayout* layout = memory_.layout_of(access.pointer);
  // One index for all lanes: whoever is active, the memory of all of them is there.
  access.is_own_everywhere = layout && access.shape.is_linear() && access.shape.stride == layout->lane_stride();
  if (layout && layout->granule) {
    access.align = llvm::commonAlignment(access.align, static_cast<uint64_t>(layout->granule));
    if (access.is_own_everywhere) access.align = lane_memory_align(access.type);
  }
  return access;
}

void Widener::write_load(llvm::LoadInst& load) {
  if (analysis_.is_uniform(&load)) return write_uniform(load);
  if (load.isAtomic() || load.isVolatile()) return write_lane_by_lane(load);
  if (write_group_member(load)) return;
  Value* lanes = read(access_of(load));
  set_vector(&load, load.getType()->isIntegerTy(1) ? build_.CreateTrunc(lanes, widened(load.getType())) : lanes);
}

Value* Widener::read(const Access& access) {
  if (access.shape.is_uniform()) return splat(load_one(access, scalar(access.pointer)));
  if (access.has_vector_form && access.shape.is_linear()) {
    if (access.shape.stride == access.size) return read_neighbours(access, scalar(access.pointer), mask_);
    if (access.shape.stride == -access.size) {
      return build_.CreateVectorReverse(read_neighbours(access, last_lane_address(access), reversed(mask_)));
    }
  }
  return read_anywhere(access);
}

Value* Widener::load_one(const Access& access, Value* pointer) {
  llvm::LoadInst* load = build_.CreateAlignedLoad(access.type, pointer, access.align);
  load->setAAMetadata(access.aliases);
  return load;
}

Value* Widener::load_all(const Access& access, Value* first) {
  llvm::LoadInst* load = build_.CreateAlignedLoad(widened(access.type), first, access.align);
  load->setAAMetadata(access.aliases);
  return load;
}

Value* Widener::last_lane_address(const Access& access) {
  const int64_t distance = access.shape.stride * static_cast<int64_t>(lanes_ - 1);
  return build_.CreateGEP(build_.getInt8Ty(), scalar(access.pointer), build_.getInt64(static_cast<uint64_t>(distance)));
}

Value* Widener::reversed(Value* mask) { return mask ? build_.CreateVectorReverse(mask) : nullptr; }

/// W elements that follow one another from `first` on.
Value* Widener::read_neighbours(const Access& access, Value* first, Value* mask) {
  if (!mask || access.is_own_everywhere) return load_all(access, first);
  llvm::Type* type = widened(access.type);
  if (target_.costs.isLegalMaskedLoad(type, access.align, 0)) {
    auto* load = build_.CreateMaskedLoad(type, first, access.align, mask, llvm::Constant::getNullValue(type));
    load->setAAMetadata(access.aliases);
    return load;
  }
  return read_within_page(access, first, mask);
}

/// No masked load for elements this narrow. A vector that crosses no page can be read whole, as one of its lanes is active.
Value* Widener::read_within_page(const Access& access, Value* first, Value* mask) {
  const uint64_t bytes = static_cast<uint64_t>(access.size) * lanes_;
  llvm::SmallVector<const Value*, 4> objects;
  llvm::getUnderlyingObjects(access.pointer, objects, nullptr, /*MaxLookup=*/0);
  Value* is_readable = nullptr;
  if (llvm::any_of(objects, [](const Value* object) { return llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(object); })) {
    // LLVM knows where these end.
    is_readable = build_.CreateICmpEQ(bits_of(mask), bits_of(nullptr));
  } else {
    Value* place = build_.CreateAnd(build_.CreatePtrToInt(first, build_.getInt64Ty()), build_.getInt64(kSmallestPage - 1));
    is_readable = build_.CreateICmpULE(place, build_.getInt64(kSmallestPage - bytes));
  }
  BasicBlock* whole = new_block("whole");
  BasicBlock* single = new_block("single");
  BasicBlock* behind = new_block("behind");
  build_.CreateCondBr(is_readable, whole, single);
  build_.SetInsertPoint(whole);
  Value* all = load_all(access, first);
  build_.CreateBr(behind);
  build_.SetInsertPoint(single);
  llvm::AllocaInst* result = lane_results(access.type)[0];
  for_each_active_lane(mask, [&](Value* lane) {
    Value* value = load_one(access, build_.CreateGEP(access.type, first, lane));
    build_.CreateStore(value, build_.CreateGEP(access.type, result, lane));
  });
  Value* some = load_lanes(result, access.type);
  BasicBlock* from = build_.GetInsertBlock();
  go_to(behind);
  llvm::PHINode* lanes = build_.CreatePHI(all->getType(), 2);
  lanes->addIncoming(all, whole);
  lanes->addIncoming(some, from);
  return lanes;
}

void Widener::write_store(llvm::StoreInst& store) {
  if (store.isAtomic() || store.isVolatile()) return write_lane_by_lane(store);
  if (write_group_member(store)) return;
  const Access access = access_of(store);
  Value* value = store.getValueOperand();
  if (access.shape.is_uniform()) return store_one(access, scalar(access.pointer), last_active_value(value));
  write_lanes(access, stored_lanes(value));
}

void Widener::write_lanes(const Access& access, Value* lanes) {
  if (access.has_vector_form && access.shape.is_linear()) {
    if (access.shape.stride == access.size) return write_neighbours(access, lanes, scalar(access.pointer), mask_);
    if (access.shape.stride == -access.size) {
      return write_neighbours(access, build_.CreateVectorReverse(lanes), last_lane_address(access), reversed(mask_));
    }
  }
  write_anywhere(access, lanes);
}

Value* Widener::stored_lanes(Value* value) {
  Value* lanes = vector(value);
  return value->getType()->isIntegerTy(1) ? build_.CreateZExt(lanes, widened(build_.getInt8Ty())) : lanes;
}

/// All lanes write to one place; which of them is the last is as good as any.
Value* Widener::last_active_value(Value* value) {
  Value* result = nullptr;
  if (analysis_.is_uniform(value)) {
    result = scalar(value);
  } else if (!mask_) {
    result = build_.CreateExtractElement(vector(value), lanes_ - 1);
  } else {
    Value* bits = bits_of(mask_);
    Value* zeros = build_.CreateIntrinsic(bits->getType(), llvm::Intrinsic::ctlz, {bits, build_.getTrue()});
    Value* last = build_.CreateSub(llvm::ConstantInt::get(bits->getType(), lanes_ - 1), zeros);
    result = build_.CreateExtractElement(vector(value), build_.CreateZExtOrTrunc(last, build_.getInt32Ty()));
  }
  return result->getType()->isIntegerTy(1) ? build_.CreateZExt(result, build_.getInt8Ty()) : result;
}

void Widener::store_one(const Access& access, Value* pointer, Value* value) {
  build_.CreateAlignedStore(value, pointer, access.align)->setAAMetadata(access.aliases);
}

void Widener::write_neighbours(const Access& access, Value* lanes, Value* first, Value* mask) {
  if (!mask) return store_one(access, first, lanes);
  if (access.is_own_everywhere) {
    // The freeze keeps LLVM from making a masked store of it, which would not become a register, and is slower.
    Value* old = build_.CreateFreeze(load_all(access, first));
    return store_one(access, first, build_.CreateSelect(mask, lanes, old));
  }
  const auto write_masked = [&] {
    build_.CreateMaskedStore(lanes, first, access.align, mask)->setAAMetadata(access.aliases);
  };
  const bool is_legal = target_.costs.isLegalMaskedStore(lanes->getType(), access.align, 0);
  // Without mask registers such a store costs about as much as one for each lane; the rest of a loop runs but once.
  if (is_legal && (target_.has_mask_registers || (start_.is_rest && mask == start_.mask))) return write_masked();
  BasicBlock* whole = new_block("whole");
  BasicBlock* single = new_block("single");
  BasicBlock* behind = new_block("behind");
  build_.CreateCondBr(build_.CreateICmpEQ(bits_of(mask), bits_of(nullptr)), whole, single);
  build_.SetInsertPoint(whole);
  store_one(access, first, lanes);
  build_.CreateBr(behind);
  build_.SetInsertPoint(single);
  if (is_legal) {
    write_masked();
  } else {
    llvm::AllocaInst* values = spilled(lanes);
    for_each_active_lane(mask, [&](Value* lane) {
      store_one(access, build_.CreateGEP(access.type, first, lane), lane_value(values, access.type, lane));
    });
  }
  go_to(behind);
}

}  // namespace iruka::cpu_backend::spmd
