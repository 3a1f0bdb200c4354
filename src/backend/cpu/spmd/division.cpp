#include "backend/cpu/spmd/division.h"

#include <algorithm>

#include "backend/cpu/compiler/guard_pass.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/PatternMatch.h"

// There is no vector instruction for an integer division. Where the numbers are small enough, floats divide exactly:
// for integers |a| <= 2^p and 0 < |d| <= 2^p, p the bits of a significand, the rounded quotient truncates to the exact
// one. Let a, d > 0, a / d not an integer, and m the integer above it: a / d <= m - 1/d. Half the distance of floats
// below m is at most (m - 1) 2^-p (2^-(p+1) where m is 1), and (m - 1) d < a <= 2^p makes that less than 1/d: m is not
// reached. a - quotient * d is then exact too, its parts being integers of at most p bits.
namespace iruka::cpu_backend::spmd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Magnitudes up to 2^kMostBits are converted to doubles and back by adding kMagic, which works below 2^51.
constexpr unsigned kMostBits = 50;
constexpr uint64_t kMagicBits = 0x4338000000000000;  ///< of 1.5 * 2^52, whose last bit has the value 1
constexpr double kMagic = 0x1.8p52;

struct Operand {
  Value* value = nullptr;  ///< a scalar where it is uniform, else a vector
  bool is_uniform = false;
  bool may_be_zero = true;
  bool may_be_negative = true;
  unsigned bits = 64;  ///< -2^bits <= value < 2^bits
};

/// One division of vectors of `lanes` integers of any width.
class Divider {
 public:
  Divider(llvm::IRBuilder<>& build, unsigned lanes, unsigned opcode, Operand dividend, Operand divisor)
      : build_(build),
        lanes_(lanes),
        opcode_(static_cast<Instruction::BinaryOps>(opcode)),
        is_signed_(opcode == Instruction::SDiv || opcode == Instruction::SRem),
        is_quotient_(opcode == Instruction::SDiv || opcode == Instruction::UDiv),
        dividend_(dividend),
        divisor_(divisor),
        width_(dividend.value->getType()->getScalarSizeInBits()) {}

  /// The result, or null where the numbers may be too large for doubles.
  Value* divide() {
    if (const auto* constant = constant_divisor()) {
      if (constant->isZero()) return llvm::Constant::getNullValue(integers(width_));
      if (width_ <= 32 || constant->isPowerOf2()) return build_.CreateBinOp(opcode_, all(dividend_), all(divisor_));
      if (dividend_.bits <= 31 && constant->isSignedIntN(32)) return divide_narrow(*constant);
    }
    if (width_ <= 32 || dividend_.bits <= kMostBits) return divide_floats();
    // LLVM turns a constant divisor into a multiplication.
    return width_ > 64 || llvm::isa<llvm::Constant>(divisor_.value) ? divide_long() : nullptr;
  }

  /// For each lane, whether a number is too large for doubles.
  Value* is_long() const {
    Value* any = nullptr;
    for (const Operand* operand : {&dividend_, &divisor_}) {
      if (operand->bits <= kMostBits) continue;
      Value* value = all(*operand);
      llvm::Type* type = value->getType();
      if (is_signed_) value = build_.CreateAdd(value, llvm::ConstantInt::get(type, uint64_t{1} << kMostBits));
      value = build_.CreateLShr(value, kMostBits + is_signed_);
      any = any ? build_.CreateOr(any, value) : value;
    }
    return build_.CreateIsNotNull(any);
  }

  Value* divide_short() {
    dividend_.bits = std::min(dividend_.bits, kMostBits);
    divisor_.bits = std::min(divisor_.bits, kMostBits);
    return divide_floats();
  }

  /// Divides lane by lane.
  Value* divide_long() {
    return guarded_division(build_, opcode_, build_.CreateFreeze(all(dividend_)), build_.CreateFreeze(all(divisor_)));
  }

 private:
  llvm::Type* integers(unsigned width) const { return llvm::FixedVectorType::get(build_.getIntNTy(width), lanes_); }
  llvm::Type* floats() const { return is_single_ ? build_.getFloatTy() : build_.getDoubleTy(); }

  Value* all(const Operand& operand) const {
    return operand.is_uniform ? build_.CreateVectorSplat(lanes_, operand.value) : operand.value;
  }

  /// The constant divisor, or null; -1 does not count, because its quotient can overflow.
  const llvm::APInt* constant_divisor() const {
    const llvm::APInt* constant = nullptr;
    const bool matches = llvm::PatternMatch::match(divisor_.value, llvm::PatternMatch::m_APInt(constant));
    return matches && !(is_signed_ && constant->isAllOnes()) ? constant : nullptr;
  }

  /// A 64-bit division whose numbers fit into 32 bits.
  Value* divide_narrow(const llvm::APInt& constant) {
    llvm::Type* narrow = integers(32);
    Value* divisor = llvm::ConstantInt::get(narrow, constant.trunc(32));
    Value* result = build_.CreateBinOp(opcode_, build_.CreateTrunc(all(dividend_), narrow), divisor);
    return is_signed_ ? build_.CreateSExt(result, integers(64)) : build_.CreateZExt(result, integers(64));
  }

  Value* divide_floats() {
    if (width_ > 32 && divisor_.bits > kMostBits) clamp_divisor();
    is_single_ = dividend_.bits <= 24 && divisor_.bits <= 24;
    Value* by_zero = nullptr;
    if (divisor_.may_be_zero) {
      llvm::Type* type = divisor_.value->getType();
      by_zero = build_.CreateICmpEQ(divisor_.value, llvm::Constant::getNullValue(type));
      divisor_.value =
          build_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, divisor_.value, llvm::ConstantInt::get(type, 1));
    }
    Value* dividend = to_floats(dividend_);
    Value* divisor = to_floats(divisor_);
    Value* result = build_.CreateFDiv(dividend, divisor);
    if (!is_quotient_) {
      Value* quotient = build_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, result);
      llvm::IRBuilder<>::FastMathFlagGuard guard(build_);
      llvm::FastMathFlags flags;
      flags.setAllowContract();
      build_.setFastMathFlags(flags);
      result = build_.CreateFSub(dividend, build_.CreateFMul(quotient, divisor));
    }
    Value* integer = to_integers(result);
    if (!by_zero || !is_quotient_) return integer;
    if (divisor_.is_uniform) by_zero = build_.CreateVectorSplat(lanes_, by_zero);
    return build_.CreateSelect(by_zero, llvm::Constant::getNullValue(integer->getType()), integer);
  }

  /// All divisors larger than every dividend give the same quotient.
  void clamp_divisor() {
    llvm::Type* type = divisor_.value->getType();
    const int64_t most = (int64_t{1} << dividend_.bits) + 1;
    Value* high = llvm::ConstantInt::get(type, static_cast<uint64_t>(most));
    if (is_signed_) {
      Value* low = llvm::ConstantInt::getSigned(type, -most);
      divisor_.value = build_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, divisor_.value, high);
      divisor_.value = build_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, divisor_.value, low);
    } else {
      divisor_.value = build_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, divisor_.value, high);
    }
    divisor_.bits = dividend_.bits + 1;
  }

  Value* to_floats(const Operand& operand) {
    Value* value = operand.value;
    const bool fits_signed = operand.bits < width_;
    if (operand.is_uniform) {
      Value* single = fits_signed ? build_.CreateSIToFP(value, floats()) : build_.CreateUIToFP(value, floats());
      return build_.CreateVectorSplat(lanes_, single);
    }
    llvm::Type* type = llvm::FixedVectorType::get(floats(), lanes_);
    if (width_ < 32) {
      value = is_signed_ ? build_.CreateSExt(value, integers(32)) : build_.CreateZExt(value, integers(32));
      return build_.CreateSIToFP(value, type);
    }
    if (operand.bits <= 31) return build_.CreateSIToFP(build_.CreateTrunc(value, integers(32)), type);
    if (width_ == 32) return build_.CreateUIToFP(value, type);
    value = build_.CreateAdd(value, llvm::ConstantInt::get(value->getType(), kMagicBits));
    return build_.CreateFSub(build_.CreateBitCast(value, type), llvm::ConstantFP::get(type, kMagic));
  }

  /// Whether the truncated result fits int32.
  bool is_narrow() const {
    if (!is_quotient_) return dividend_.bits <= 31 || divisor_.bits <= 31;
    const bool may_be_2_to_31 = dividend_.may_be_negative && divisor_.may_be_negative && dividend_.bits == 31;
    return dividend_.bits <= 31 && !may_be_2_to_31;
  }

  Value* to_integers(Value* value) {
    if (is_narrow()) {
      Value* narrow = build_.CreateFPToSI(value, integers(32));
      return build_.CreateSExtOrTrunc(narrow, integers(width_));
    }
    // The last bits of the sum's significand are the integer's, in two's complement; 2^31 wraps as it should.
    if (is_quotient_) value = build_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, value);
    Value* sum = build_.CreateFAdd(value, llvm::ConstantFP::get(value->getType(), kMagic));
    Value* bits = build_.CreateBitCast(sum, integers(64));
    if (width_ == 32) return build_.CreateTrunc(bits, integers(32));
    return build_.CreateSub(bits, llvm::ConstantInt::get(bits->getType(), kMagicBits));
  }

  llvm::IRBuilder<>& build_;
  const unsigned lanes_;
  const Instruction::BinaryOps opcode_;
  const bool is_signed_, is_quotient_;
  Operand dividend_, divisor_;
  const unsigned width_;
  bool is_single_ = false;
};

/// What is known of `value` where `division` stands.
Operand known_operand(const Value* value, bool is_signed, const llvm::SimplifyQuery& query) {
  Operand operand;
  const llvm::KnownBits known = llvm::computeKnownBits(value, query);
  operand.may_be_zero = !known.isNonZero() && !llvm::isKnownNonZero(value, query);
  operand.may_be_negative = is_signed && !known.isNonNegative();
  operand.bits = known.countMaxActiveBits();
  if (operand.may_be_negative) {
    operand.bits = llvm::ComputeMaxSignificantBits(value, query.DL, query.AC, query.CxtI, query.DT) - 1;
  }
  return operand;
}

}  // namespace

DivisionWriter::DivisionWriter(LaneBuilder& build, LaneValues& values, const Body& body)
    : build_(build), values_(values), body_(body), assumptions_(build.function()) {}

void DivisionWriter::write(Instruction& division, unsigned opcode, Value* dividend, Value* divisor) {
  const bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  const llvm::SimplifyQuery query(build_.layout(), body_.loop.dominators, &assumptions_, &division);
  const auto operand = [&](Value* value) {
    Operand known = known_operand(value, is_signed, query);
    known.is_uniform = body_.analysis.is_uniform(value);
    known.value = known.is_uniform ? values_.scalar(value) : values_.vector(value);
    return known;
  };
  Operand a = operand(dividend), d = operand(divisor);
  llvm::Type* type = division.getType();
  const unsigned width = type->getIntegerBitWidth();
  const unsigned wider = width > 64 || width == 64 || width == 32 || width == 16 || width == 8 ? width
                         : width < 32                                                          ? 32
                                                                                               : 64;
  const auto resize = [&](Value* value, unsigned to) {
    llvm::Type* resized = value->getType()->getWithNewBitWidth(to);
    return is_signed ? build_.CreateSExtOrTrunc(value, resized) : build_.CreateZExtOrTrunc(value, resized);
  };
  a.value = resize(a.value, wider);
  d.value = resize(d.value, wider);
  Divider divider(build_, build_.lanes(), opcode, a, d);
  Value* result = divider.divide();
  if (!result) {
    // Most 64-bit numbers are short enough for doubles.
    BasicBlock *short_block = build_.new_block("short"), *long_block = build_.new_block("long"),
               *behind = build_.new_block("divided");
    Value* is_long = build_.CreateFreeze(divider.is_long());
    build_.CreateCondBr(build_.any(build_.mask() ? build_.CreateAnd(build_.mask(), is_long) : is_long), long_block,
                        short_block);
    build_.SetInsertPoint(long_block);
    Value* long_result = divider.divide_long();
    build_.CreateBr(behind);
    build_.SetInsertPoint(short_block);
    Value* short_result = divider.divide_short();
    build_.go_to(behind);
    llvm::PHINode* either = build_.CreatePHI(long_result->getType(), 2);
    either->addIncoming(long_result, long_block);
    either->addIncoming(short_result, short_block);
    result = either;
  }
  values_.set_vector(&division, resize(result, width));
}

}  // namespace iruka::cpu_backend::spmd
