#include "backend/cpu/spmd/memory.h"

#include "llvm/IR/Constants.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

MemoryWriter::MemoryWriter(LaneBuilder& build, LaneValues& values, LaneByLane& lane_by_lane, const Body& body,
                           const BodyStart& start)
    : build_(build),
      values_(values),
      body_(body),
      unit_stride_(build, lane_by_lane, body.target, start),
      gathers_(build, values, lane_by_lane, body),
      rows_(build, values, body),
      groups_(build, values, unit_stride_, rows_, body) {}

void MemoryWriter::write_load(llvm::LoadInst& load) {
  if (groups_.write(load)) return;
  Value* lanes = read(access_of(load, body_));
  values_.set_vector(
      &load, load.getType()->isIntegerTy(1) ? build_.CreateTrunc(lanes, build_.widened(load.getType())) : lanes);
}

Value* MemoryWriter::read(const Access& access) {
  if (access.shape.is_uniform()) return build_.splat(load_element(build_, access, values_.scalar(access.pointer)));
  if (access.has_vector_form && access.shape.is_linear()) {
    if (access.shape.stride == access.size)
      return unit_stride_.read(access, values_.scalar(access.pointer), build_.mask());
    if (access.shape.stride == -access.size) {
      return build_.CreateVectorReverse(
          unit_stride_.read(access, last_lane_address(access), build_.reversed(build_.mask())));
    }
  }
  return read_row_or_gather(access);
}

Value* MemoryWriter::read_row_or_gather(const Access& access) {
  const RowTest test = rows_.test(access);
  if (!test.is_row) return gathers_.gather(access);
  BasicBlock* row = build_.new_block("row");
  BasicBlock* apart = build_.new_block("apart");
  BasicBlock* behind = build_.new_block("behind");
  build_.CreateCondBr(test.is_row, row, apart);
  build_.SetInsertPoint(row);
  Value* first = rows_.first_address(access.pointer, test);
  Value* neighbours = test.step == 1 ? unit_stride_.read(access, first, build_.mask())
                                     : read_strided(build_, access, first, static_cast<unsigned>(test.step), 1)[0];
  BasicBlock* from_row = build_.GetInsertBlock();
  build_.CreateBr(behind);
  build_.SetInsertPoint(apart);
  Value* gathered = gathers_.gather(access);
  BasicBlock* from_apart = build_.GetInsertBlock();
  build_.go_to(behind);
  llvm::PHINode* lanes = build_.CreatePHI(neighbours->getType(), 2);
  lanes->addIncoming(neighbours, from_row);
  lanes->addIncoming(gathered, from_apart);
  return lanes;
}

Value* MemoryWriter::last_lane_address(const Access& access) {
  const int64_t distance = access.shape.stride * static_cast<int64_t>(build_.lanes() - 1);
  return build_.CreateGEP(build_.getInt8Ty(), values_.scalar(access.pointer),
                          build_.getInt64(static_cast<uint64_t>(distance)));
}

void MemoryWriter::write_store(llvm::StoreInst& store) {
  if (groups_.write(store)) return;
  const Access access = access_of(store, body_);
  Value* value = store.getValueOperand();
  if (access.shape.is_uniform())
    return store_element(build_, access, values_.scalar(access.pointer), last_active_value(value));
  write_lanes(access, values_.stored_vector(value));
}

void MemoryWriter::write_lanes(const Access& access, Value* lanes) {
  if (access.has_vector_form && access.shape.is_linear()) {
    if (access.shape.stride == access.size)
      return unit_stride_.write(access, lanes, values_.scalar(access.pointer), build_.mask());
    if (access.shape.stride == -access.size) {
      return unit_stride_.write(access, build_.CreateVectorReverse(lanes), last_lane_address(access),
                                build_.reversed(build_.mask()));
    }
  }
  gathers_.scatter(access, lanes);
}

/// The value of the last active lane, for a store of all lanes to one address.
Value* MemoryWriter::last_active_value(Value* value) {
  Value* result = nullptr;
  if (body_.analysis.is_uniform(value)) {
    result = values_.scalar(value);
  } else if (!build_.mask()) {
    result = build_.CreateExtractElement(values_.vector(value), build_.lanes() - 1);
  } else {
    Value* bits = build_.bits_of(build_.mask());
    Value* zeros = build_.CreateIntrinsic(bits->getType(), llvm::Intrinsic::ctlz, {bits, build_.getTrue()});
    Value* last = build_.CreateSub(llvm::ConstantInt::get(bits->getType(), build_.lanes() - 1), zeros);
    result = build_.CreateExtractElement(values_.vector(value), build_.CreateZExtOrTrunc(last, build_.getInt32Ty()));
  }
  return result->getType()->isIntegerTy(1) ? build_.CreateZExt(result, build_.getInt8Ty()) : result;
}

}  // namespace iruka::cpu_backend::spmd
