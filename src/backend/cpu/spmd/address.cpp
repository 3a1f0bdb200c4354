#include "backend/cpu/spmd/address.h"

#include <algorithm>

#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;
using llvm::Value;

int64_t product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t sum(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

class Sum {
 public:
  Sum(AddressSum& result, const llvm::DataLayout& layout, llvm::function_ref<bool(const Value*)> is_exact_cast)
      : result_(result), layout_(layout), is_exact_cast_(is_exact_cast) {}

  void add_pointer(const Value* pointer) {
    while (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      for (auto step = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); step != end; ++step) {
        if (llvm::StructType* structure = step.getStructTypeOrNull()) {
          const auto member = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(step.getOperand())->getZExtValue());
          const auto* members = layout_.getStructLayout(structure);
          result_.offset = sum(result_.offset, static_cast<int64_t>(members->getElementOffset(member).getFixedValue()));
        } else {
          add(step.getOperand(), static_cast<int64_t>(step.getSequentialElementStride(layout_).getFixedValue()));
        }
      }
      pointer = address->getPointerOperand();
    }
    result_.base = pointer;
  }

 private:
  void add(const Value* value, int64_t scale, int depth = 0) {
    constexpr int kDeepest = 8;
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value); constant && constant->getBitWidth() <= 64) {
      result_.offset = sum(result_.offset, product(constant->getSExtValue(), scale));
      return;
    }
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || depth == kDeepest) return add_term(value, scale);
    const auto* number =
        instruction->getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(instruction->getOperand(1)) : nullptr;
    if (number && number->getBitWidth() > 64) number = nullptr;
    switch (instruction->getOpcode()) {
      case Instruction::Add:
        add(instruction->getOperand(0), scale, depth + 1);
        return add(instruction->getOperand(1), scale, depth + 1);
      case Instruction::Sub:
        add(instruction->getOperand(0), scale, depth + 1);
        return add(instruction->getOperand(1), product(scale, -1), depth + 1);
      case Instruction::Or:
        if (!llvm::cast<llvm::PossiblyDisjointInst>(instruction)->isDisjoint()) break;
        add(instruction->getOperand(0), scale, depth + 1);
        return add(instruction->getOperand(1), scale, depth + 1);
      case Instruction::Mul:
        if (!number) break;
        return add(instruction->getOperand(0), product(scale, number->getSExtValue()), depth + 1);
      case Instruction::Shl:
        if (!number || number->getZExtValue() >= number->getBitWidth()) break;
        return add(instruction->getOperand(0), product(scale, int64_t{1} << number->getZExtValue()), depth + 1);
      case Instruction::SExt:
      case Instruction::ZExt:
        if (!is_exact_cast_(instruction)) break;
        return add(instruction->getOperand(0), scale, depth + 1);
      default: break;
    }
    add_term(value, scale);
  }

  void add_term(const Value* value, int64_t scale) {
    auto place =
        std::lower_bound(result_.terms.begin(), result_.terms.end(), value,
                         [](const auto& term, const Value* other) { return std::less<>()(term.first, other); });
    if (place == result_.terms.end() || place->first != value) place = result_.terms.insert(place, {value, 0});
    place->second = sum(place->second, scale);
    if (place->second == 0) result_.terms.erase(place);
  }

  AddressSum& result_;
  const llvm::DataLayout& layout_;
  llvm::function_ref<bool(const Value*)> is_exact_cast_;
};

}  // namespace

std::optional<int64_t> AddressSum::minus(const AddressSum& other) const {
  if (base != other.base || terms != other.terms) return std::nullopt;
  return static_cast<int64_t>(static_cast<uint64_t>(offset) - static_cast<uint64_t>(other.offset));
}

AddressSum take_apart(const Value* pointer, const llvm::DataLayout& layout,
                      llvm::function_ref<bool(const Value*)> is_exact_cast) {
  AddressSum result;
  Sum(result, layout, is_exact_cast).add_pointer(pointer);
  return result;
}

}  // namespace iruka::cpu_backend::spmd
