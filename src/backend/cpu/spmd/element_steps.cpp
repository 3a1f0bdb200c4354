#include "backend/cpu/spmd/element_steps.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {
namespace {

/// Divides a sum of products by a size where each term has a constant factor that is a multiple of it. A 64-bit sum may
/// wrap around, as an address does; a narrower one that is extended may not.
class ExactDivision {
 public:
  explicit ExactDivision(uint64_t size) : size_(size) {}

  bool divides(const llvm::Value* value, bool is_signed = true, int depth = 0) const {
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      return is_signed ? number->getSExtValue() % static_cast<int64_t>(size_) == 0
                       : number->getZExtValue() % size_ == 0;
    }
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction || depth == kDeepest) return false;
    const auto is_divided = [&](unsigned k) { return divides(instruction->getOperand(k), is_signed, depth + 1); };
    const auto is_extended = [&](bool signs) {
      const llvm::Value* const narrow = instruction->getOperand(0);
      return has_no_wrap(narrow, signs) && divides(narrow, signs, depth + 1);
    };
    switch (instruction->getOpcode()) {
      case llvm::Instruction::Add: return is_divided(0) && is_divided(1);
      case llvm::Instruction::Mul:
      case llvm::Instruction::Shl: return factor_of(*instruction) % size_ == 0;
      case llvm::Instruction::SExt: return is_extended(true);
      case llvm::Instruction::ZExt: return is_extended(false);
      default: return false;
    }
  }

  llvm::Value* quotient(llvm::IRBuilder<>& build, llvm::Value* value, bool is_signed = true) const {
    llvm::Type* const type = value->getType();
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      return is_signed ? llvm::ConstantInt::getSigned(type, number->getSExtValue() / static_cast<int64_t>(size_))
                       : llvm::ConstantInt::get(type, number->getZExtValue() / size_);
    }
    auto* const instruction = llvm::cast<llvm::Instruction>(value);
    llvm::Value* const first = instruction->getOperand(0);
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(instruction))
      return build.CreateCast(cast->getOpcode(), quotient(build, first, llvm::isa<llvm::SExtInst>(cast)), type);
    if (instruction->getOpcode() == llvm::Instruction::Add)
      return build.CreateAdd(quotient(build, first, is_signed), quotient(build, instruction->getOperand(1), is_signed));
    const uint64_t rest = factor_of(*instruction) / size_;
    return rest == 1 ? first : build.CreateMul(first, llvm::ConstantInt::get(type, rest));
  }

 private:
  static constexpr int kDeepest = 6;

  /// The constant factor of a product, 1 where there is none: no size divides it.
  static uint64_t factor_of(const llvm::Instruction& product) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(product.getOperand(1));
    if (!number || number->isNegative()) return 1;
    const uint64_t value = number->getZExtValue();
    if (product.getOpcode() == llvm::Instruction::Mul) return value;
    return value < 31 ? uint64_t{1} << value : 1;
  }
  /// Whether no part of a narrow sum wraps around.
  static bool has_no_wrap(const llvm::Value* value, bool is_signed, int depth = 0) {
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (!operation) return llvm::isa<llvm::ConstantInt>(value);
    if (depth == kDeepest || !llvm::isa<llvm::OverflowingBinaryOperator>(operation)) return false;
    if (!(is_signed ? operation->hasNoSignedWrap() : operation->hasNoUnsignedWrap())) return false;
    return operation->getOpcode() != llvm::Instruction::Add ||
           (has_no_wrap(operation->getOperand(0), is_signed, depth + 1) &&
            has_no_wrap(operation->getOperand(1), is_signed, depth + 1));
  }

  const uint64_t size_;
};

/// The same address with its constant part in front, where it adds to what all lanes have in common; null where it is
/// there already.
llvm::Value* with_constant_first(llvm::Value* pointer, const llvm::DataLayout& layout) {
  llvm::APInt offset(64, 0);
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  while (address && address->hasAllConstantIndices() && address->accumulateConstantOffset(layout, offset))
    address = llvm::dyn_cast<llvm::GetElementPtrInst>(address->getPointerOperand());
  if (!address || offset.isZero() || address->hasAllConstantIndices()) return nullptr;
  llvm::IRBuilder<> build(address);
  llvm::Instruction* const copy = address->clone();
  copy->setOperand(0, build.CreatePtrAdd(address->getPointerOperand(), build.getInt(offset)));
  copy->dropPoisonGeneratingFlags();
  return build.Insert(copy, address->getName());
}

/// The same address, a sum whose parts are in steps of `size` bytes where they can be; null where that changes nothing.
llvm::Value* in_elements(llvm::Value* pointer, llvm::Type* type, uint64_t size, int depth = 0) {
  constexpr int kDeepest = 4;
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (!address || size < 2 || depth == kDeepest) return nullptr;
  llvm::Value* const base = in_elements(address->getPointerOperand(), type, size, depth + 1);
  llvm::IRBuilder<> build(address);
  if (address->getNumIndices() == 1 && address->getSourceElementType()->isIntegerTy(8)) {
    llvm::Value* const bytes = address->idx_begin()->get();
    const ExactDivision division(size);
    if (!llvm::isa<llvm::Constant>(bytes) && bytes->getType()->isIntegerTy(64) && division.divides(bytes))
      return build.CreateGEP(type, base ? base : address->getPointerOperand(), division.quotient(build, bytes),
                             address->getName());
  }
  if (!base) return nullptr;
  llvm::Instruction* const copy = address->clone();
  copy->setOperand(0, base);
  copy->dropPoisonGeneratingFlags();
  return build.Insert(copy, address->getName());
}

}  // namespace

bool step_by_elements(llvm::Function& function) {
  bool is_changed = false;
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer) continue;
    llvm::Type* const type = llvm::getLoadStoreType(&instruction);
    if (!type->isIntegerTy() && !type->isFloatingPointTy()) continue;
    const unsigned operand = llvm::isa<llvm::LoadInst>(instruction) ? 0 : 1;
    if (llvm::Value* const made = with_constant_first(pointer, layout)) {
      instruction.setOperand(operand, made);
      is_changed = true;
    }
    llvm::Value* const made =
        in_elements(instruction.getOperand(operand), type, layout.getTypeAllocSize(type).getFixedValue());
    if (!made) continue;
    instruction.setOperand(operand, made);
    is_changed = true;
  }
  return is_changed;
}

}  // namespace iruka::cpu_backend::spmd
