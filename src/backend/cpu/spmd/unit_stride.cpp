#include "backend/cpu/spmd/unit_stride.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr uint64_t kSmallestPage = 4096;

}  // namespace

UnitStrideMemory::UnitStrideMemory(LaneBuilder& build, LaneByLane& lane_by_lane, const WidenTarget& target,
                                   const BodyStart& start)
    : build_(build), lane_by_lane_(lane_by_lane), target_(target), start_(start) {}

Value* UnitStrideMemory::load_vector(const Access& access, Value* first) {
  llvm::LoadInst* load = build_.CreateAlignedLoad(build_.widened(access.type), first, access.align);
  load->setAAMetadata(access.aliases);
  return load;
}

Value* UnitStrideMemory::read(const Access& access, Value* first, Value* mask) {
  if (!mask || access.is_own_everywhere) return load_vector(access, first);
  llvm::Type* type = build_.widened(access.type);
  if (target_.costs.isLegalMaskedLoad(type, access.align, 0)) {
    auto* load = build_.CreateMaskedLoad(type, first, access.align, mask, llvm::Constant::getNullValue(type));
    load->setAAMetadata(access.aliases);
    return load;
  }
  return read_within_page(access, first, mask);
}

/// No masked load for elements this narrow. A vector that crosses no page can be read whole, as one of its lanes is
/// active.
Value* UnitStrideMemory::read_within_page(const Access& access, Value* first, Value* mask) {
  const uint64_t bytes = static_cast<uint64_t>(access.size) * build_.lanes();
  llvm::SmallVector<const Value*, 4> objects;
  llvm::getUnderlyingObjects(access.pointer, objects, nullptr, /*MaxLookup=*/0);
  Value* is_readable = nullptr;
  if (llvm::any_of(objects,
                   [](const Value* object) { return llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(object); })) {
    // LLVM knows the size of these objects and may take a read beyond it for undefined behaviour.
    is_readable = build_.CreateICmpEQ(build_.bits_of(mask), build_.bits_of(nullptr));
  } else {
    Value* place =
        build_.CreateAnd(build_.CreatePtrToInt(first, build_.getInt64Ty()), build_.getInt64(kSmallestPage - 1));
    is_readable = build_.CreateICmpULE(place, build_.getInt64(kSmallestPage - bytes));
  }
  BasicBlock* whole = build_.new_block("whole");
  BasicBlock* single = build_.new_block("single");
  BasicBlock* behind = build_.new_block("behind");
  build_.CreateCondBr(is_readable, whole, single);
  build_.SetInsertPoint(whole);
  Value* all = load_vector(access, first);
  build_.CreateBr(behind);
  build_.SetInsertPoint(single);
  llvm::AllocaInst* result = lane_by_lane_.results_of(access.type)[0];
  lane_by_lane_.for_each_active_lane(mask, [&](Value* lane) {
    Value* value = load_element(build_, access, build_.CreateGEP(access.type, first, lane));
    build_.CreateStore(value, build_.CreateGEP(access.type, result, lane));
  });
  Value* some = lane_by_lane_.load_lanes(result, access.type);
  BasicBlock* from = build_.GetInsertBlock();
  build_.go_to(behind);
  llvm::PHINode* lanes = build_.CreatePHI(all->getType(), 2);
  lanes->addIncoming(all, whole);
  lanes->addIncoming(some, from);
  return lanes;
}

void UnitStrideMemory::write(const Access& access, Value* lanes, Value* first, Value* mask) {
  if (!mask) return store_element(build_, access, first, lanes);
  if (access.is_own_everywhere) {
    // The freeze keeps LLVM from making a masked store of it, which would not become a register, and is slower.
    Value* old = build_.CreateFreeze(load_vector(access, first));
    return store_element(build_, access, first, build_.CreateSelect(mask, lanes, old));
  }
  const auto write_masked = [&] {
    build_.CreateMaskedStore(lanes, first, access.align, mask)->setAAMetadata(access.aliases);
  };
  const bool is_legal = target_.costs.isLegalMaskedStore(lanes->getType(), access.align, 0);
  // Without mask registers such a store costs about as much as one for each lane; the rest of a loop runs only once.
  if (is_legal && (target_.has_mask_registers || (start_.is_rest && mask == start_.mask))) return write_masked();
  BasicBlock* whole = build_.new_block("whole");
  BasicBlock* single = build_.new_block("single");
  BasicBlock* behind = build_.new_block("behind");
  build_.CreateCondBr(build_.CreateICmpEQ(build_.bits_of(mask), build_.bits_of(nullptr)), whole, single);
  build_.SetInsertPoint(whole);
  store_element(build_, access, first, lanes);
  build_.CreateBr(behind);
  build_.SetInsertPoint(single);
  if (is_legal) {
    write_masked();
  } else {
    llvm::AllocaInst* values = lane_by_lane_.spilled(lanes);
    lane_by_lane_.for_each_active_lane(mask, [&](Value* lane) {
      store_element(build_, access, build_.CreateGEP(access.type, first, lane),
                    lane_by_lane_.lane_value(values, access.type, lane));
    });
  }
  build_.go_to(behind);
}

}  // namespace iruka::cpu_backend::spmd
