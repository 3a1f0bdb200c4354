#include "backend/cpu/compiler/guard_pass.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace iruka::cpu_backend {
namespace {

using llvm::Instruction;
using llvm::IRBuilder;
using llvm::Value;

bool is_signed(unsigned opcode) { return opcode == Instruction::SDiv || opcode == Instruction::SRem; }

/// A divisor that needs no guard: a constant other than 0 and, where signed, -1.
bool is_harmless_divisor(const Value* divisor, bool is_signed) {
  const llvm::APInt* constant = nullptr;
  return llvm::PatternMatch::match(divisor, llvm::PatternMatch::m_APInt(constant)) && !constant->isZero() &&
         !(is_signed && constant->isAllOnes());
}

bool is_quotient(unsigned opcode) { return opcode == Instruction::SDiv || opcode == Instruction::UDiv; }

constexpr struct {
  unsigned opcode;
  llvm::StringLiteral prefix;
} kDivisionNames[] = {{Instruction::SDiv, "iruka.sdiv.i"},
                      {Instruction::UDiv, "iruka.udiv.i"},
                      {Instruction::SRem, "iruka.srem.i"},
                      {Instruction::URem, "iruka.urem.i"}};

/// The function that stands for a division of integers of `type`.
llvm::FunctionCallee division_function(llvm::Module& module, unsigned opcode, llvm::Type* type) {
  const auto* name = llvm::find_if(kDivisionNames, [&](const auto& entry) { return entry.opcode == opcode; });
  auto* signature = llvm::FunctionType::get(type, {type, type}, false);
  llvm::FunctionCallee callee =
      module.getOrInsertFunction((name->prefix + llvm::Twine(type->getIntegerBitWidth())).str(), signature);
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotAccessMemory();
    for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::Speculatable,
                                 llvm::Attribute::NoFree, llvm::Attribute::NoSync, llvm::Attribute::NoCallback}) {
      function->addFnAttr(attribute);
    }
  }
  return callee;
}

Value* guard_division(llvm::BinaryOperator& division) {
  const unsigned opcode = division.getOpcode();
  llvm::Type* type = division.getType();
  Value* dividend = division.getOperand(0);
  Value* divisor = division.getOperand(1);
  if (is_harmless_divisor(divisor, is_signed(opcode))) return nullptr;
  IRBuilder<> build(&division);
  if (type->isIntegerTy() && type->getIntegerBitWidth() <= 64) {
    return build.CreateCall(division_function(*division.getModule(), opcode, type), {dividend, divisor});
  }
  return guarded_division(build, opcode, build.CreateFreeze(dividend), build.CreateFreeze(divisor));
}

Value* guard_shift(llvm::BinaryOperator& shift) {
  llvm::Type* type = shift.getType();
  const unsigned width = type->getScalarSizeInBits();
  const llvm::APInt* constant = nullptr;
  Value* amount = shift.getOperand(1);
  if (llvm::PatternMatch::match(amount, llvm::PatternMatch::m_APInt(constant)) && constant->ult(width)) return nullptr;
  IRBuilder<> build(&shift);
  amount = build.CreateFreeze(amount);
  Value* in_range = build.CreateICmpULT(amount, llvm::ConstantInt::get(type, width));
  if (shift.getOpcode() == Instruction::AShr) {
    Value* clamped = build.CreateSelect(in_range, amount, llvm::ConstantInt::get(type, width - 1));
    return build.CreateAShr(shift.getOperand(0), clamped);
  }
  Value* result = build.CreateBinOp(shift.getOpcode(), shift.getOperand(0), amount);
  return build.CreateSelect(in_range, result, llvm::Constant::getNullValue(type));
}

/// A float constant of `type`, rounded towards zero.
llvm::Constant* bound(llvm::Type* type, const llvm::APInt& integer, bool is_signed) {
  llvm::APFloat value(type->getScalarType()->getFltSemantics());
  value.convertFromAPInt(integer, is_signed, llvm::APFloat::rmTowardZero);
  return llvm::ConstantFP::get(type, value);
}

/// LLVM's saturating casts become scalar code on x86, but compares and selects stay vectors. They leave only values
/// that fit to the hardware's cast.
Value* saturated(IRBuilder<>& build, Value* value, llvm::Type* integer, bool is_signed) {
  llvm::Type* type = value->getType();
  const unsigned width = integer->getScalarSizeInBits();
  const auto least = is_signed ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getZero(width);
  const auto most = is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
  Value* low = bound(type, least, is_signed);
  if (width <= 16) {
    // Both bounds are exact, so that clamping (an instruction for each bound) and a conversion through int32 suffice.
    Value* number =
        is_signed ? build.CreateSelect(build.CreateFCmpORD(value, value), value, llvm::Constant::getNullValue(type))
                  : value;
    Value* above = build.CreateSelect(build.CreateFCmpOGT(number, low), number, low);  // NaN gives 0 if unsigned
    Value* high = bound(type, most, is_signed);
    Value* inside = build.CreateSelect(build.CreateFCmpOLT(above, high), above, high);
    return build.CreateTrunc(build.CreateFPToSI(inside, integer->getWithNewBitWidth(32)), integer);
  }
  // The upper bound itself may not be a float, but the power of two above it is.
  llvm::APFloat limit(type->getScalarType()->getFltSemantics());
  limit.convertFromAPInt(most.zext(width + 1) + 1, /*IsSigned=*/false, llvm::APFloat::rmNearestTiesToEven);
  Value* too_large = build.CreateFCmpOGE(value, llvm::ConstantFP::get(type, limit));
  Value* large_enough = build.CreateFCmpOGE(value, low);
  Value* fits = build.CreateAnd(large_enough, build.CreateNot(too_large));
  Value* safe = build.CreateSelect(fits, value, llvm::Constant::getNullValue(type));
  Value* result = is_signed ? build.CreateFPToSI(safe, integer) : build.CreateFPToUI(safe, integer);
  result = build.CreateSelect(too_large, llvm::ConstantInt::get(integer, most), result);
  if (!is_signed) return result;
  return build.CreateSelect(build.CreateFCmpOLT(value, low), llvm::ConstantInt::get(integer, least), result);
}

Value* guard_cast(Instruction& cast, bool is_signed) {
  IRBuilder<> build(&cast);
  Value* value = build.CreateFreeze(cast.getOperand(0));
  if (value->getType()->getScalarSizeInBits() < 32) {
    value = build.CreateFPExt(value, value->getType()->getWithNewType(build.getFloatTy()));
  }
  llvm::Type* integer = cast.getType();
  if (integer->getScalarSizeInBits() > 16 || !cast.getModule()->getNamedValue(kWrapsNarrowCasts))
    return saturated(build, value, integer, is_signed);
  return build.CreateTrunc(saturated(build, value, integer->getWithNewBitWidth(32), is_signed), integer);
}

/// Clang emits intrinsics in place of casts, because it would fold a cast of a constant that does not fit to poison.
Value* guard_call(llvm::CallInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::fptosi_sat: return guard_cast(call, /*is_signed=*/true);
    case llvm::Intrinsic::fptoui_sat: return guard_cast(call, /*is_signed=*/false);
    default: return nullptr;
  }
}

Value* guarded(Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem: return guard_division(llvm::cast<llvm::BinaryOperator>(instruction));
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr: return guard_shift(llvm::cast<llvm::BinaryOperator>(instruction));
    case Instruction::FPToSI: return guard_cast(instruction, /*is_signed=*/true);
    case Instruction::FPToUI: return guard_cast(instruction, /*is_signed=*/false);
    case Instruction::Call: return guard_call(llvm::cast<llvm::CallInst>(instruction));
    default: return nullptr;
  }
}

/// Clang folds constants such as 1 / 0 to poison, which may be replaced by 0.
void replace_poison(Instruction& instruction) {
  for (llvm::Use& operand : instruction.operands()) {
    llvm::Type* type = operand->getType();
    if (llvm::isa<llvm::PoisonValue>(operand) && (type->isIntegerTy() || type->isFloatingPointTy())) {
      operand.set(llvm::Constant::getNullValue(type));
    }
  }
}

/// Whether the call is a trap, which must end the element and not the process.
bool is_trap(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call &&
         (call->getIntrinsicID() == llvm::Intrinsic::trap || call->getIntrinsicID() == llvm::Intrinsic::debugtrap ||
          call->getIntrinsicID() == llvm::Intrinsic::ubsantrap);
}

/// ctlz(0), cttz(0) and abs(MIN): the last operand says whether they are poison.
void define_intrinsic(Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return;
  const auto id = call->getIntrinsicID();
  if (id == llvm::Intrinsic::ctlz || id == llvm::Intrinsic::cttz || id == llvm::Intrinsic::abs) {
    call->setArgOperand(1, llvm::ConstantInt::getFalse(call->getContext()));
  }
}

}  // namespace

std::optional<unsigned> division_opcode(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  llvm::Type* type = call.getType();
  if (!callee || !callee->isDeclaration() || !type->isIntegerTy() || call.arg_size() != 2) return std::nullopt;
  if (call.getArgOperand(0)->getType() != type || call.getArgOperand(1)->getType() != type) return std::nullopt;
  for (const auto& [opcode, prefix] : kDivisionNames) {
    if (callee->getName().starts_with(prefix)) return opcode;
  }
  return std::nullopt;
}

// The divisor becomes 1 where the division would trap. Dividing by 1 is right for MIN / -1 (it wraps to MIN) and for
// every remainder (0), so that only a quotient by zero needs a second select.
Value* guarded_division(llvm::IRBuilderBase& build, unsigned opcode, Value* dividend, Value* divisor) {
  llvm::Type* type = dividend->getType();
  Value* zero = llvm::Constant::getNullValue(type);
  Value* by_zero = build.CreateICmpEQ(divisor, zero);
  Value* traps = by_zero;
  if (is_signed(opcode)) {
    Value* least = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
    Value* overflow = build.CreateAnd(build.CreateICmpEQ(dividend, least),
                                      build.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)));
    traps = build.CreateOr(by_zero, overflow);
  }
  Value* safe = build.CreateSelect(traps, llvm::ConstantInt::get(type, 1), divisor);
  Value* result = build.CreateBinOp(static_cast<Instruction::BinaryOps>(opcode), dividend, safe);
  return is_quotient(opcode) ? build.CreateSelect(by_zero, zero, result) : result;
}

void expand_divisions(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration() || !function.getName().starts_with("iruka.")) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      const auto opcode = call ? division_opcode(*call) : std::nullopt;
      if (!opcode) continue;
      IRBuilder<> build(call);
      Value* dividend = call->getArgOperand(0);
      Value* divisor = call->getArgOperand(1);
      // Both operands are used twice; freezing makes an undefined value the same in both uses.
      Value* result = is_harmless_divisor(divisor, is_signed(*opcode))
                          ? build.CreateBinOp(static_cast<Instruction::BinaryOps>(*opcode), dividend, divisor)
                          : guarded_division(build, *opcode, build.CreateFreeze(dividend), build.CreateFreeze(divisor));
      call->replaceAllUsesWith(result);
      call->eraseFromParent();
    }
    if (function.use_empty()) function.eraseFromParent();
  }
}

llvm::PreservedAnalyses GuardPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<Instruction*, 64> instructions;
  for (Instruction& instruction : llvm::instructions(function)) instructions.push_back(&instruction);
  for (Instruction* instruction : instructions) {
    replace_poison(*instruction);
    define_intrinsic(*instruction);
    if (is_trap(*instruction)) {
      instruction->eraseFromParent();
    } else if (Value* replacement = guarded(*instruction)) {
      instruction->replaceAllUsesWith(replacement);
      instruction->eraseFromParent();
    }
  }
  // This includes calls to functions that are wrongly declared noreturn.
  llvm::Type* type = function.getReturnType();
  for (llvm::BasicBlock& block : function) {
    auto* end = llvm::dyn_cast<llvm::UnreachableInst>(block.getTerminator());
    if (!end) continue;
    IRBuilder<> build(end);
    type->isVoidTy() ? build.CreateRetVoid() : build.CreateRet(llvm::Constant::getNullValue(type));
    end->eraseFromParent();
  }
  function.removeFnAttr(llvm::Attribute::NoReturn);
  return llvm::PreservedAnalyses::none();
}

}  // namespace iruka::cpu_backend
