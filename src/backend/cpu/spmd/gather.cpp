// Loads and stores at unrelated addresses.
#include "backend/cpu/spmd/widener.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

/// A value in the lane of a constant number, without the vector of all lanes where there is another way.
Value* Widener::in_lane(Value* value, unsigned lane) {
  const Shape shape = analysis_.shape(value);
  if (shape.is_uniform()) return scalar(value);
  if (shape.is_linear() && !shape.only_as_address) {
    const auto distance = static_cast<uint64_t>(shape.stride) * lane;
    if (value->getType()->isPointerTy()) {
      return build_.CreateGEP(build_.getInt8Ty(), scalar(value), build_.getInt64(distance));
    }
    const llvm::APInt step = llvm::APInt(64, distance).zextOrTrunc(value->getType()->getIntegerBitWidth());
    return build_.CreateAdd(scalar(value), llvm::ConstantInt::get(value->getType(), step));
  }
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(value);
  if (address && loop_.contains(address) && !memory_.is_side_by_side(address)) {
    llvm::SmallVector<Value*, 4> indices;
    for (Value* index : address->indices()) {
      indices.push_back(llvm::isa<llvm::Constant>(index) ? index : in_lane(index, lane));
    }
    return build_.CreateGEP(address->getSourceElementType(), in_lane(address->getPointerOperand(), lane), indices);
  }
  // The narrow vector takes fewer registers to be taken apart.
  auto* cast = llvm::dyn_cast<llvm::CastInst>(value);
  const bool is_extension = cast && (llvm::isa<llvm::SExtInst>(cast) || llvm::isa<llvm::ZExtInst>(cast));
  if (is_extension && loop_.contains(cast) && analysis_.is_varying(cast->getOperand(0))) {
    Value* narrow = build_.CreateExtractElement(vector(cast->getOperand(0)), lane);
    return build_.CreateCast(cast->getOpcode(), narrow, value->getType());
  }
  return build_.CreateExtractElement(vector(value), lane);
}

Value* Widener::read_anywhere(const Access& access) {
  if (Value* lanes = read_maybe_neighbours(access)) return lanes;
  return gather(access);
}

Value* Widener::gather(const Access& access) {
  auto* type = llvm::cast<llvm::VectorType>(widened(access.type));
  Value* zero = llvm::Constant::getNullValue(type);
  if (access.has_vector_form && target_.costs.isLegalMaskedGather(type, access.align) &&
      !target_.costs.forceScalarizeMaskedGather(type, access.align)) {
    Value* mask = mask_ ? mask_ : full_mask();
    auto* result = build_.CreateMaskedGather(type, vector(access.pointer), access.align, mask, zero);
    result->setAAMetadata(access.aliases);
    return result;
  }
  if (Value* result = gather_by_processor(access)) return result;
  // Lanes that are not active read a place that is always there: no branches.
  Value* nowhere = mask_ ? zero_place() : nullptr;
  Value* result = mask_ ? zero : llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    Value* pointer = in_lane(access.pointer, lane);
    if (mask_) pointer = build_.CreateSelect(is_active(lane), pointer, nowhere);
    auto* load = build_.CreateAlignedLoad(access.type, pointer, access.align);
    if (!mask_) load->setAAMetadata(access.aliases);
    result = build_.CreateInsertElement(result, load, lane);
  }
  return result;
}

/// Whether the lane of a constant number is active; from one integer, as there are several to ask.
Value* Widener::is_active(unsigned lane) {
  Value* bits = bits_of(mask_);
  const llvm::APInt bit = llvm::APInt::getOneBitSet(lanes_, lane);
  return build_.CreateICmpNE(build_.CreateAnd(bits, llvm::ConstantInt::get(bits->getType(), bit)),
                             llvm::Constant::getNullValue(bits->getType()));
}

namespace {

/// Where LLVM avoids the processor's gathers although they are the faster way: on Zen 3 one of eight floats took 12 cycles,
/// extracts and loads took 17, and 20 and more under a mask.
bool has_good_gather(const llvm::Function& function) {
  const llvm::StringRef processor = function.getFnAttribute("target-cpu").getValueAsString();
  const llvm::StringRef features = function.getFnAttribute("target-features").getValueAsString();
  return processor.starts_with("znver") && processor != "znver1" && processor != "znver2" && features.contains("+avx2");
}

/// AVX2's gather of one register: the elements' type, the bits of an index, lanes.
llvm::Intrinsic::ID gather_intrinsic(bool is_wide_element, bool is_wide_index, unsigned lanes) {
  if (is_wide_element) {
    return is_wide_index ? llvm::Intrinsic::x86_avx2_gather_q_q_256 : llvm::Intrinsic::x86_avx2_gather_d_q_256;
  }
  if (is_wide_index) return llvm::Intrinsic::x86_avx2_gather_q_d_256;
  return lanes == 8 ? llvm::Intrinsic::x86_avx2_gather_d_d_256 : llvm::Intrinsic::x86_avx2_gather_d_d;
}

}  // namespace

/// The part of an address that is one for all lanes, and what is added to it.
Widener::Indexed Widener::indexed(const Access& access) {
  Indexed result;
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(access.pointer);
  if (address && loop_.contains(address) && access.shape.is_varying() && !memory_.is_side_by_side(address) &&
      analysis_.is_uniform(address->getPointerOperand())) {
    Value* varying = nullptr;
    llvm::SmallVector<Value*, 4> indices;
    for (auto step = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); step != end; ++step) {
      Value* index = step.getOperand();
      if (llvm::isa<llvm::Constant>(index) || analysis_.is_uniform(index)) {
        indices.push_back(llvm::isa<llvm::Constant>(index) ? index : scalar(index));
        continue;
      }
      if (varying) return {};
      varying = index;
      result.scale = step.getSequentialElementStride(layout_).getFixedValue();
      indices.push_back(llvm::Constant::getNullValue(index->getType()));
    }
    const bool is_encodable = result.scale == 1 || result.scale == 2 || result.scale == 4 || result.scale == 8;
    if (varying && is_encodable && varying->getType()->isIntegerTy(64)) {
      result.index = vector(varying);
      const auto* cast = llvm::dyn_cast<llvm::SExtInst>(varying);
      if (cast && loop_.contains(cast) && cast->getSrcTy()->isIntegerTy(32)) {
        result.index = vector(cast->getOperand(0));
      } else if (llvm::ComputeNumSignBits(varying, layout_) > 32) {
        result.index = build_.CreateTrunc(result.index, widened(build_.getInt32Ty()));
      }
      result.base = build_.CreateGEP(address->getSourceElementType(), scalar(address->getPointerOperand()), indices);
      return result;
    }
  }
  result.scale = 1;
  result.base = llvm::ConstantPointerNull::get(build_.getPtrTy());
  result.index = build_.CreatePtrToInt(vector(access.pointer), widened(build_.getInt64Ty()));
  return result;
}

/// By AVX2's instructions, or null where they do not fit.
Value* Widener::gather_by_processor(const Access& access) {
  const bool is_wide = access.size == 8;
  if (!access.has_vector_form || (!is_wide && access.size != 4) || lanes_ < 4 || !has_good_gather(function_)) return nullptr;
  const Indexed place = indexed(access);
  if (!place.base) return nullptr;
  const bool is_wide_index = place.index->getType()->getScalarSizeInBits() == 64;
  const unsigned piece = is_wide || is_wide_index ? 4 : std::min(8u, lanes_);
  llvm::Type* number = build_.getIntNTy(is_wide ? 64 : 32);
  auto* type = llvm::FixedVectorType::get(number, piece);
  Value* mask = build_.CreateSExt(mask_ ? mask_ : full_mask(), llvm::FixedVectorType::get(number, lanes_));
  llvm::SmallVector<Value*, 16> parts;
  for (unsigned from = 0; from < lanes_; from += piece) {
    Value* index = part_of(place.index, from, piece);
    parts.push_back(build_.CreateIntrinsic(gather_intrinsic(is_wide, is_wide_index, piece), {},
                                           {llvm::Constant::getNullValue(type), place.base, index, part_of(mask, from, piece),
                                            build_.getInt8(static_cast<uint8_t>(place.scale))}));
  }
  Value* all = llvm::concatenateVectors(build_, parts);
  if (access.type->isPointerTy()) return build_.CreateIntToPtr(all, widened(access.type));
  return build_.CreateBitCast(all, widened(access.type));
}

Value* Widener::part_of(Value* lanes, unsigned from, unsigned count) {
  if (count == lanes_) return lanes;
  return build_.CreateShuffleVector(lanes, llvm::createSequentialMask(from, count, 0));
}

/// Memory that holds zero, with room for one element. Not a local: of a load from one or the other LLVM makes a branch.
Value* Widener::zero_place() {
  constexpr uint64_t kSize = 64;
  llvm::Module& module = *function_.getParent();
  llvm::StringRef name = "iruka.zero";
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  auto* type = llvm::ArrayType::get(build_.getInt8Ty(), kSize);
  auto* place = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                         llvm::Constant::getNullValue(type), name);
  place->setAlignment(llvm::Align(kSize));
  return place;
}

void Widener::write_anywhere(const Access& access, Value* lanes) {
  if (access.has_vector_form && target_.costs.isLegalMaskedScatter(lanes->getType(), access.align) &&
      !target_.costs.forceScalarizeMaskedScatter(llvm::cast<llvm::VectorType>(lanes->getType()), access.align)) {
    Value* mask = mask_ ? mask_ : full_mask();
    build_.CreateMaskedScatter(lanes, vector(access.pointer), access.align, mask)->setAAMetadata(access.aliases);
    return;
  }
  if (!mask_) {
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      store_one(access, in_lane(access.pointer, lane), build_.CreateExtractElement(lanes, lane));
    }
    return;
  }
  llvm::AllocaInst* values = spilled(lanes);
  const bool is_linear = access.shape.is_linear();
  llvm::AllocaInst* pointers = is_linear ? nullptr : spilled(vector(access.pointer));
  for_each_active_lane(mask_, [&](Value* lane) {
    Value* pointer = nullptr;
    if (is_linear) {
      Value* distance = build_.CreateMul(build_.CreateZExt(lane, build_.getInt64Ty()),
                                         build_.getInt64(static_cast<uint64_t>(access.shape.stride)));
      pointer = build_.CreateGEP(build_.getInt8Ty(), scalar(access.pointer), distance);
    } else {
      pointer = lane_value(pointers, access.pointer->getType(), lane);
    }
    store_one(access, pointer, lane_value(values, access.type, lane));
  });
}

}  // namespace iruka::cpu_backend::spmd
