#include "backend/cpu/spmd/instructions.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

namespace iruka::cpu_backend::spmd {

using llvm::Instruction;
using llvm::Value;

InstructionWriter::InstructionWriter(LaneBuilder& build, LaneValues& values, const Body& body, const BodyStart& start)
    : build_(build),
      values_(values),
      body_(body),
      start_(start),
      lane_by_lane_(build, values, body),
      memory_(build, values, lane_by_lane_, body, start),
      divisions_(build, values, body),
      calls_(build, values, lane_by_lane_, divisions_, body) {}

void InstructionWriter::write_block(llvm::BasicBlock& block) {
  memory_.begin(block);
  for (Instruction& instruction : block) {
    if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator()) write(instruction);
  }
}

void InstructionWriter::write_load(llvm::LoadInst& load) {
  if (body_.analysis.is_uniform(&load)) return write_uniform(load);
  if (load.isAtomic() || load.isVolatile()) return lane_by_lane_.write(load);
  memory_.write_load(load);
}

void InstructionWriter::write_store(llvm::StoreInst& store) {
  if (store.isAtomic() || store.isVolatile()) return lane_by_lane_.write(store);
  memory_.write_store(store);
}

void InstructionWriter::write(Instruction& instruction) {
  build_.SetCurrentDebugLocation(instruction.getDebugLoc());
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return write_load(*load);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return write_store(*store);
  if (llvm::isa<llvm::FenceInst>(instruction)) {
    build_.Insert(instruction.clone());  // lanes finish each statement together
    return;
  }
  const Shape shape = body_.analysis.shape(&instruction);
  const RowSplit& split = body_.analysis.split();
  if (split.quotients.contains(&instruction)) {
    return values_.set_scalar(&instruction, build_.CreateTrunc(start_.quotient, instruction.getType()));
  }
  if (split.remainders.contains(&instruction)) {
    return values_.set_scalar(&instruction, build_.CreateTrunc(start_.remainder, instruction.getType()));
  }
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    const bool is_dropped = call->getType()->isVoidTy() && llvm::isa<llvm::IntrinsicInst>(call);
    const bool is_written_once = shape.is_uniform() && !is_dropped && !block_call(*call);
    return is_written_once ? write_uniform(instruction) : calls_.write(*call);
  }
  if (shape.is_uniform()) return write_uniform(instruction);
  if (!shape.is_linear()) return write_varying(instruction);
  write_linear(instruction);
  if (shape.only_as_address) write_varying(instruction);
}

void InstructionWriter::write_uniform(Instruction& instruction) {
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return write_address(*address);
  Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands()) {
    if (!llvm::isa<llvm::MetadataAsValue>(operand)) operand.set(values_.scalar(operand));
  }
  if (!build_.is_guarded()) copy->dropPoisonGeneratingAnnotations();
  build_.Insert(copy);
  values_.set_scalar(&instruction, copy);
}

void InstructionWriter::write_linear(Instruction& instruction) {
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return write_address(*address);
  if (instruction.getOpcode() == Instruction::Or) {
    // Bits may be in common in a first lane that is not active.
    return values_.set_scalar(&instruction, build_.CreateAdd(values_.scalar(instruction.getOperand(0)),
                                                             values_.scalar(instruction.getOperand(1))));
  }
  if (instruction.getOpcode() == Instruction::ZExt && body_.analysis.shape(&instruction).only_as_address) {
    // Before a wrap to 0 lie lanes that are not active; as a signed number the first lane leads up to the others.
    return values_.set_scalar(&instruction,
                              build_.CreateSExt(values_.scalar(instruction.getOperand(0)), instruction.getType()));
  }
  if (instruction.getOpcode() == Instruction::And) {  // the same of LLVM's other form
    const llvm::APInt& mask = llvm::cast<llvm::ConstantInt>(instruction.getOperand(1))->getValue();
    const uint64_t above = mask.countLeadingZeros();
    Value* const shifted = build_.CreateShl(values_.scalar(instruction.getOperand(0)), above);
    return values_.set_scalar(&instruction, build_.CreateAShr(shifted, above));
  }
  Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands()) operand.set(values_.scalar(operand));
  copy->dropPoisonGeneratingAnnotations();
  build_.Insert(copy);
  values_.set_scalar(&instruction, copy);
}

void InstructionWriter::write_varying(Instruction& instruction) {
  const auto operand = [&](unsigned k) { return values_.vector(instruction.getOperand(k)); };
  Value* result = nullptr;
  if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    switch (binary->getOpcode()) {
      case Instruction::SDiv:
      case Instruction::UDiv:
      case Instruction::SRem:
      case Instruction::URem:
        return divisions_.write(instruction, binary->getOpcode(), binary->getOperand(0), binary->getOperand(1));
      default: result = build_.CreateBinOp(binary->getOpcode(), operand(0), operand(1));
    }
  } else if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    result = build_.CreateCast(cast->getOpcode(), operand(0), build_.widened(cast->getType()));
  } else if (auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    result = build_.CreateCmp(compare->getPredicate(), operand(0), operand(1));
  } else if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    Value* condition = select->getCondition();
    if (body_.analysis.is_uniform(condition))
      result = build_.CreateSelect(values_.scalar(condition), operand(1), operand(2));
    else
      result = build_.blend(values_.vector(condition), operand(1), operand(2));
  } else if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    return write_address(*address);
  } else if (auto* unary = llvm::dyn_cast<llvm::UnaryOperator>(&instruction)) {
    result = build_.CreateUnOp(unary->getOpcode(), operand(0));
  } else if (llvm::isa<llvm::FreezeInst>(instruction)) {
    result = build_.CreateFreeze(operand(0));
  } else if (auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    result = build_.CreateExtractValue(operand(0), extract->getIndices());
  } else if (auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    result = build_.CreateInsertValue(operand(0), operand(1), insert->getIndices());
  } else {
    return lane_by_lane_.write(instruction);
  }
  // Flags that promise something of integers would be false for lanes that are not active.
  auto* written = llvm::dyn_cast<Instruction>(result);
  if (written && llvm::isa<llvm::FPMathOperator>(instruction) && llvm::isa<llvm::FPMathOperator>(written)) {
    written->copyFastMathFlags(&instruction);
  }
  values_.set_vector(&instruction, result);
}

/// In a local array whose lanes lie side by side, every offset counts W times.
void InstructionWriter::write_address(llvm::GetElementPtrInst& address) {
  const bool is_varying = body_.analysis.is_varying(&address);
  Value* pointer = address.getPointerOperand();
  const auto form = [&](Value* value) {
    return body_.analysis.is_varying(value) ? values_.vector(value) : values_.scalar(value);
  };
  // One vector among the operands makes a vector of addresses; linear ones are spread where others vary.
  const auto index_form = [&](Value* value) {
    return is_varying && !body_.analysis.is_uniform(value) ? values_.vector(value) : values_.scalar(value);
  };
  Value* base = is_varying && !body_.analysis.is_uniform(pointer) ? values_.vector(pointer) : form(pointer);
  Value* result = nullptr;
  if (body_.memory.is_side_by_side(&address)) {
    Value* offset = build_.getInt64(0);
    for (auto step = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); step != end; ++step) {
      Value* term = nullptr;
      if (llvm::StructType* structure = step.getStructTypeOrNull()) {
        const auto member = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(step.getOperand())->getZExtValue());
        term = build_.getInt64(build_.layout().getStructLayout(structure)->getElementOffset(member).getFixedValue() *
                               build_.lanes());
      } else {
        Value* index = index_form(step.getOperand());
        llvm::Type* type = index->getType()->isVectorTy() ? build_.widened(build_.getInt64Ty()) : build_.getInt64Ty();
        const uint64_t scale = step.getSequentialElementStride(build_.layout()).getFixedValue() * build_.lanes();
        term = build_.CreateMul(build_.CreateSExtOrTrunc(index, type), llvm::ConstantInt::get(type, scale));
      }
      if (term->getType() != offset->getType()) {
        if (!offset->getType()->isVectorTy()) offset = build_.splat(offset);
        if (!term->getType()->isVectorTy()) term = build_.splat(term);
      }
      offset = build_.CreateAdd(offset, term);
    }
    result = build_.CreateGEP(build_.getInt8Ty(), base, offset);
  } else {
    llvm::SmallVector<Value*, 4> indices;
    for (llvm::Use& index : address.indices()) {
      indices.push_back(llvm::isa<llvm::Constant>(index) ? index.get() : index_form(index));
    }
    result = build_.CreateGEP(address.getSourceElementType(), base, indices);
    if (auto* copy = llvm::dyn_cast<llvm::GetElementPtrInst>(result);
        copy && body_.analysis.is_uniform(&address) && build_.is_guarded()) {
      copy->setNoWrapFlags(address.getNoWrapFlags());
    }
  }
  if (is_varying && !result->getType()->isVectorTy()) result = build_.splat(result);
  if (is_varying)
    values_.set_vector(&address, result);
  else
    values_.set_scalar(&address, result);
}

}  // namespace iruka::cpu_backend::spmd
