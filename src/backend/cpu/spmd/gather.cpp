#include "backend/cpu/spmd/gather.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

GatherMemory::GatherMemory(LaneBuilder& build, LaneValues& values, LaneByLane& lane_by_lane, const Body& body)
    : build_(build), values_(values), lane_by_lane_(lane_by_lane), body_(body) {}

Value* GatherMemory::gather(const Access& access) {
  auto* type = llvm::cast<llvm::VectorType>(build_.widened(access.type));
  Value* zero = llvm::Constant::getNullValue(type);
  if (access.has_vector_form && body_.target.costs.isLegalMaskedGather(type, access.align) &&
      !body_.target.costs.forceScalarizeMaskedGather(type, access.align)) {
    Value* mask = build_.mask() ? build_.mask() : build_.full_mask();
    auto* result = build_.CreateMaskedGather(type, values_.vector(access.pointer), access.align, mask, zero);
    result->setAAMetadata(access.aliases);
    return result;
  }
  if (Value* result = gather_by_processor(access)) return result;
  // Inactive lanes read a place that always exists, which needs no branches.
  Value* nowhere = build_.mask() ? zero_place(build_) : nullptr;
  Value* result = build_.mask() ? zero : llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < build_.lanes(); ++lane) {
    Value* pointer = values_.in_lane(access.pointer, lane);
    if (build_.mask()) pointer = build_.CreateSelect(build_.is_active(lane), pointer, nowhere);
    auto* load = build_.CreateAlignedLoad(access.type, pointer, access.align);
    if (!build_.mask()) load->setAAMetadata(access.aliases);
    result = build_.CreateInsertElement(result, load, lane);
  }
  return result;
}

namespace {

/// Whether the processor's gathers are faster than extracts and loads although LLVM avoids them: on Zen 3 a gather of
/// eight floats takes 12 cycles, extracts and loads take 17, and 20 and more under a mask.
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

/// An address as a base that all lanes share and a vector of indices.
GatherMemory::Indexed GatherMemory::indexed(const Access& access) {
  Indexed result;
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(access.pointer);
  if (address && body_.loop.contains(address) && access.shape.is_varying() && !body_.memory.is_side_by_side(address) &&
      body_.analysis.is_uniform(address->getPointerOperand())) {
    Value* varying = nullptr;
    llvm::SmallVector<Value*, 4> indices;
    for (auto step = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); step != end; ++step) {
      Value* index = step.getOperand();
      if (llvm::isa<llvm::Constant>(index) || body_.analysis.is_uniform(index)) {
        indices.push_back(llvm::isa<llvm::Constant>(index) ? index : values_.scalar(index));
        continue;
      }
      if (varying) return {};
      varying = index;
      result.scale = step.getSequentialElementStride(build_.layout()).getFixedValue();
      indices.push_back(llvm::Constant::getNullValue(index->getType()));
    }
    const bool is_encodable = result.scale == 1 || result.scale == 2 || result.scale == 4 || result.scale == 8;
    if (varying && is_encodable && varying->getType()->isIntegerTy(64)) {
      result.index = values_.vector(varying);
      const auto* cast = llvm::dyn_cast<llvm::SExtInst>(varying);
      if (cast && body_.loop.contains(cast) && cast->getSrcTy()->isIntegerTy(32)) {
        result.index = values_.vector(cast->getOperand(0));
      } else if (llvm::ComputeNumSignBits(varying, build_.layout()) > 32) {
        result.index = build_.CreateTrunc(result.index, build_.widened(build_.getInt32Ty()));
      }
      result.base =
          build_.CreateGEP(address->getSourceElementType(), values_.scalar(address->getPointerOperand()), indices);
      return result;
    }
  }
  result.scale = 1;
  result.base = llvm::ConstantPointerNull::get(build_.getPtrTy());
  result.index = build_.CreatePtrToInt(values_.vector(access.pointer), build_.widened(build_.getInt64Ty()));
  return result;
}

/// A gather by AVX2's instructions, or null where they do not fit.
Value* GatherMemory::gather_by_processor(const Access& access) {
  const bool is_wide = access.size == 8;
  if (!access.has_vector_form || (!is_wide && access.size != 4) || build_.lanes() < 4 ||
      !has_good_gather(build_.function()))
    return nullptr;
  const Indexed place = indexed(access);
  if (!place.base) return nullptr;
  const bool is_wide_index = place.index->getType()->getScalarSizeInBits() == 64;
  const unsigned piece = is_wide || is_wide_index ? 4 : std::min(8u, build_.lanes());
  llvm::Type* number = build_.getIntNTy(is_wide ? 64 : 32);
  auto* type = llvm::FixedVectorType::get(number, piece);
  Value* mask = build_.CreateSExt(build_.mask() ? build_.mask() : build_.full_mask(),
                                  llvm::FixedVectorType::get(number, build_.lanes()));
  llvm::SmallVector<Value*, 16> parts;
  for (unsigned from = 0; from < build_.lanes(); from += piece) {
    Value* index = build_.part_of(place.index, from, piece);
    parts.push_back(
        build_.CreateIntrinsic(gather_intrinsic(is_wide, is_wide_index, piece), {},
                               {llvm::Constant::getNullValue(type), place.base, index,
                                build_.part_of(mask, from, piece), build_.getInt8(static_cast<uint8_t>(place.scale))}));
  }
  Value* all = llvm::concatenateVectors(build_, parts);
  if (access.type->isPointerTy()) return build_.CreateIntToPtr(all, build_.widened(access.type));
  return build_.CreateBitCast(all, build_.widened(access.type));
}

Value* zero_place(LaneBuilder& build) {
  constexpr uint64_t kSize = 64;
  llvm::Module& module = *build.function().getParent();
  llvm::StringRef name = "iruka.zero";
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  auto* type = llvm::ArrayType::get(build.getInt8Ty(), kSize);
  auto* place = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                         llvm::Constant::getNullValue(type), name);
  place->setAlignment(llvm::Align(kSize));
  return place;
}

void GatherMemory::scatter(const Access& access, Value* lanes) {
  if (access.has_vector_form && body_.target.costs.isLegalMaskedScatter(lanes->getType(), access.align) &&
      !body_.target.costs.forceScalarizeMaskedScatter(llvm::cast<llvm::VectorType>(lanes->getType()), access.align)) {
    Value* mask = build_.mask() ? build_.mask() : build_.full_mask();
    build_.CreateMaskedScatter(lanes, values_.vector(access.pointer), access.align, mask)
        ->setAAMetadata(access.aliases);
    return;
  }
  if (!build_.mask()) {
    for (unsigned lane = 0; lane < build_.lanes(); ++lane) {
      store_element(build_, access, values_.in_lane(access.pointer, lane), build_.CreateExtractElement(lanes, lane));
    }
    return;
  }
  llvm::AllocaInst* values = lane_by_lane_.spilled(lanes);
  const bool is_linear = access.shape.is_linear();
  llvm::AllocaInst* pointers = is_linear ? nullptr : lane_by_lane_.spilled(values_.vector(access.pointer));
  lane_by_lane_.for_each_active_lane(build_.mask(), [&](Value* lane) {
    Value* pointer = nullptr;
    if (is_linear) {
      Value* distance = build_.CreateMul(build_.CreateZExt(lane, build_.getInt64Ty()),
                                         build_.getInt64(static_cast<uint64_t>(access.shape.stride)));
      pointer = build_.CreateGEP(build_.getInt8Ty(), values_.scalar(access.pointer), distance);
    } else {
      pointer = lane_by_lane_.lane_value(pointers, access.pointer->getType(), lane);
    }
    store_element(build_, access, pointer, lane_by_lane_.lane_value(values, access.type, lane));
  });
}

}  // namespace iruka::cpu_backend::spmd
