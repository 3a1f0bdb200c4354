#include "backend/cpu/spmd/loop_writer.h"

#include <algorithm>

#include "backend/cpu/compiler/cancel_pass.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

namespace iruka::cpu_backend::spmd {

using llvm::BasicBlock;
using llvm::Value;

LoopWriter::LoopWriter(const Body& body, bool has_small_index, bool is_written_once)
    : body_(body),
      loop_(body.loop),
      has_small_index_(has_small_index),
      is_written_once_(is_written_once),
      build_(body.loop.header->getContext()),
      lanes_(body.analysis.lanes()) {}

void LoopWriter::write() {
  write_loops();
  keep_in_registers();
}

void LoopWriter::write_unit() {
  loop_.preheader->getTerminator()->eraseFromParent();
  build_.SetInsertPoint(loop_.preheader);
  const auto* end = llvm::dyn_cast<llvm::ConstantInt>(loop_.end);
  const bool is_full = end && end->getSExtValue() == lanes_;
  write_body(loop_.begin, is_full ? nullptr : first_lanes(loop_.end), {});
  build_.CreateBr(loop_.exit);
  keep_in_registers();
}

void LoopWriter::keep_in_registers() {
  llvm::DominatorTree dominators(*loop_.header->getParent());
  llvm::PromoteMemToReg(slots_, dominators);
}

void LoopWriter::write_loops() {
  loop_.preheader->getTerminator()->eraseFromParent();
  build_.SetInsertPoint(loop_.preheader);
  const RowSplit& split = body_.analysis.split();
  offset_ = split.offset ? frozen(split.offset) : nullptr;
  if (!split.divisor) {
    write_range(loop_.begin, loop_.end, {});
    build_.CreateBr(loop_.exit);
    return;
  }
  Value* divisor = build_.CreateSExtOrTrunc(frozen(split.divisor), build_.getInt64Ty());
  Value* is_possible = can_split(divisor);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(is_possible);
  if (known && known->isOne()) {
    write_rows(divisor);
    build_.CreateBr(loop_.exit);
    return;
  }
  BasicBlock* rows = new_block("rows");
  build_.CreateCondBr(is_possible, rows, loop_.header);
  build_.SetInsertPoint(rows);
  write_rows(divisor);
  build_.CreateBr(loop_.exit);
}

/// A frozen copy, for branches, which must not depend on poison.
Value* LoopWriter::frozen(Value* value) {
  return llvm::isa<llvm::Constant>(value) ? value : build_.CreateFreeze(value);
}

/// Whether rows can be split: they must not be so short that many lanes stay idle, and every index must fit the type of
/// the division.
Value* LoopWriter::can_split(Value* divisor) {
  const RowSplit& split = body_.analysis.split();
  Value* result = build_.CreateICmpSGE(divisor, build_.getInt64(static_cast<uint64_t>(std::max(3 * lanes_ / 4, 1))));
  if (has_small_index_ && !offset_) return result;
  const auto index = [&](Value* counter) { return offset_ ? build_.CreateAdd(counter, offset_) : counter; };
  result = build_.CreateAnd(result, build_.CreateICmpSGE(index(loop_.begin), build_.getInt64(0)));
  result = build_.CreateAnd(result, build_.CreateICmpSGE(index(loop_.end), index(loop_.begin)));
  const int64_t largest = split.bits >= 64 ? INT64_MAX : (int64_t{1} << (split.bits - 1)) - 1;
  return build_.CreateAnd(result,
                          build_.CreateICmpSLE(index(loop_.end), build_.getInt64(static_cast<uint64_t>(largest))));
}

void LoopWriter::write_rows(Value* divisor) {
  BasicBlock* before = build_.GetInsertBlock();
  BasicBlock* header = new_block("row");
  BasicBlock* body = new_block("within");
  BasicBlock* behind = new_block("behind");
  build_.CreateBr(header);
  build_.SetInsertPoint(header);
  llvm::PHINode* begin = build_.CreatePHI(build_.getInt64Ty(), 2);
  begin->addIncoming(loop_.begin, before);
  build_.CreateCondBr(build_.CreateICmpSLT(begin, loop_.end), body, behind);
  build_.SetInsertPoint(body);
  Value* index = offset_ ? build_.CreateAdd(begin, offset_) : begin;
  Row row;
  row.quotient = build_.CreateUDiv(index, divisor);
  Value* remainder = build_.CreateSub(index, build_.CreateMul(row.quotient, divisor));
  row.remainder_offset = build_.CreateSub(remainder, begin);
  Value* row_end = build_.CreateAdd(begin, build_.CreateSub(divisor, remainder));
  Value* end = build_.CreateSelect(build_.CreateICmpSLT(row_end, loop_.end), row_end, loop_.end);
  write_range(begin, end, row);
  finish_loop(header, begin, end);
  build_.SetInsertPoint(behind);
}

void LoopWriter::write_range(Value* begin, Value* end, const Row& row) {
  if (!is_written_once_) write_whole_vectors(begin, end, row);
  write_masked(begin, end, row);
}

void LoopWriter::write_whole_vectors(Value*& begin, Value* end, const Row& row) {
  BasicBlock* before = build_.GetInsertBlock();
  BasicBlock* header = new_block("vectors");
  BasicBlock* body = new_block("vector");
  BasicBlock* behind = new_block("rest");
  build_.CreateBr(header);
  build_.SetInsertPoint(header);
  llvm::PHINode* counter = build_.CreatePHI(build_.getInt64Ty(), 2);
  counter->addIncoming(begin, before);
  Value* lanes = build_.getInt64(static_cast<uint64_t>(lanes_));
  build_.CreateCondBr(build_.CreateICmpSGE(build_.CreateSub(end, counter), lanes), body, behind);
  build_.SetInsertPoint(body);
  write_body(counter, nullptr, row);
  finish_loop(header, counter, build_.CreateAdd(counter, lanes));
  build_.SetInsertPoint(behind);
  begin = counter;
}

void LoopWriter::write_masked(Value* begin, Value* end, const Row& row) {
  BasicBlock* before = build_.GetInsertBlock();
  BasicBlock* body = new_block("masked");
  BasicBlock* behind = new_block("done");
  if (!is_written_once_) {
    build_.CreateCondBr(build_.CreateICmpSLT(begin, end), body, behind);
    build_.SetInsertPoint(body);
    write_body(begin, first_lanes(build_.CreateSub(end, begin)), row);
    build_.CreateBr(behind);
    build_.SetInsertPoint(behind);
    return;
  }
  BasicBlock* header = new_block("vectors");
  build_.CreateBr(header);
  build_.SetInsertPoint(header);
  llvm::PHINode* counter = build_.CreatePHI(build_.getInt64Ty(), 2);
  counter->addIncoming(begin, before);
  build_.CreateCondBr(build_.CreateICmpSLT(counter, end), body, behind);
  build_.SetInsertPoint(body);
  Value* lanes = build_.getInt64(static_cast<uint64_t>(lanes_));
  Value* left = build_.CreateSub(end, counter);
  write_body(counter, first_lanes(build_.CreateSelect(build_.CreateICmpSLT(left, lanes), left, lanes)), row);
  finish_loop(header, counter, build_.CreateAdd(counter, lanes));
  build_.SetInsertPoint(behind);
}

void LoopWriter::write_body(Value* counter, Value* mask, const Row& row) {
  BodyStart start;
  start.counter = counter;
  start.mask = mask;
  start.is_rest = !is_written_once_;
  start.quotient = row.quotient;
  if (row.remainder_offset) start.remainder = build_.CreateAdd(counter, row.remainder_offset);
  Widener widener(body_, start);
  build_.SetInsertPoint(widener.write(build_.GetInsertBlock()));
  slots_.append(widener.slots().begin(), widener.slots().end());
}

/// The mask of the first `count` lanes; `count` is at most W.
Value* LoopWriter::first_lanes(Value* count) {
  llvm::SmallVector<llvm::Constant*, 64> lanes;
  for (int lane = 0; lane < lanes_; ++lane) lanes.push_back(build_.getInt32(static_cast<uint32_t>(lane)));
  Value* all = build_.CreateVectorSplat(static_cast<unsigned>(lanes_), build_.CreateTrunc(count, build_.getInt32Ty()));
  return build_.CreateICmpULT(llvm::ConstantVector::get(lanes), all);
}

BasicBlock* LoopWriter::new_block(const char* name) {
  return BasicBlock::Create(build_.getContext(), name, loop_.header->getParent(), loop_.exit);
}

void LoopWriter::finish_loop(BasicBlock* header, llvm::PHINode* counter, Value* next) {
  counter->addIncoming(next, build_.GetInsertBlock());
  llvm::BranchInst* back = build_.CreateBr(header);
  llvm::LLVMContext& context = build_.getContext();
  const auto flag = [&](const char* name) { return llvm::MDNode::get(context, llvm::MDString::get(context, name)); };
  llvm::MDNode* loop =
      llvm::MDNode::getDistinct(context, {nullptr, flag(kLaneLoopMetadata), flag("llvm.loop.isvectorized")});
  loop->replaceOperandWith(0, loop);
  back->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace iruka::cpu_backend::spmd
