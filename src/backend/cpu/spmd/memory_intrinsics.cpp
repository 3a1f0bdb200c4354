// memset, memcpy and memmove of constant length as loads and stores of elements.
#include "backend/cpu/spmd/lane_loop.h"
#include "backend/cpu/spmd/private_memory.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Value;

constexpr size_t kMostUnrolled = 16;

struct Piece {
  uint64_t offset;
  llvm::Type* type;
};

/// The scalars of `type` in order of their offsets; false where there are too many to write out.
bool flatten(llvm::Type* type, uint64_t offset, const llvm::DataLayout& layout, llvm::SmallVectorImpl<Piece>& pieces) {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const auto* members = layout.getStructLayout(structure);
    for (unsigned k = 0; k < structure->getNumElements(); ++k) {
      const uint64_t place = offset + members->getElementOffset(k).getFixedValue();
      if (!flatten(structure->getElementType(k), place, layout, pieces)) return false;
    }
    return true;
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const uint64_t size = layout.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (uint64_t k = 0; k < array->getNumElements(); ++k) {
      if (!flatten(array->getElementType(), offset + k * size, layout, pieces)) return false;
    }
    return true;
  }
  pieces.push_back({offset, type});
  return pieces.size() <= kMostUnrolled && !type->isVectorTy();
}

/// The scalar that an array of arrays consists of, or null.
llvm::Type* element_of(llvm::Type* type) {
  while (true) {
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      type = array->getElementType();
    } else if (auto* structure = llvm::dyn_cast<llvm::StructType>(type); structure && structure->getNumElements() > 0) {
      if (!llvm::all_equal(structure->elements())) return nullptr;
      type = structure->getElementType(0);
    } else {
      return type->isVectorTy() || type->isStructTy() ? nullptr : type;
    }
  }
}

/// The type as which the local is loaded or stored, if its own type does not determine it.
llvm::Type* accessed_as(const Value& pointer, int depth = 0) {
  for (const llvm::User* user : pointer.users()) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) return load->getType();
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (store && store->getPointerOperand() == &pointer) return store->getValueOperand()->getType();
    if (!llvm::isa<llvm::GEPOperator>(user) || depth > 2) continue;
    if (llvm::Type* type = accessed_as(*user, depth + 1)) return type;
  }
  return nullptr;
}

class Expansion {
 public:
  Expansion(llvm::MemIntrinsic& call, uint64_t length)
      : call_(call), length_(length), layout_(call.getDataLayout()), build_(&call) {}

  /// False, with nothing written, where a long memmove may overlap, which forbids a loop.
  bool write() {
    llvm::SmallVector<Piece, kMostUnrolled> pieces;
    llvm::Type* element = nullptr;
    if (!find_pieces(pieces)) element = find_element();
    if (element) {
      const uint64_t size = layout_.getTypeStoreSize(element).getFixedValue();
      if (length_ / size > kMostUnrolled) return write_loop(element, size);
      pieces.clear();
      for (uint64_t offset = 0; offset < length_; offset += size) pieces.push_back({offset, element});
    }
    llvm::SmallVector<Value*, kMostUnrolled> values;
    for (const Piece& piece : pieces) values.push_back(value(piece.type, build_.getInt64(piece.offset), piece.offset));
    for (const auto& [piece, value] : llvm::zip(pieces, values)) {
      put(value, build_.getInt64(piece.offset), piece.offset);
    }
    return true;
  }

 private:
  /// The local at whose beginning the call reads or writes, the written one first.
  llvm::SmallVector<const llvm::AllocaInst*, 2> locals() const {
    llvm::SmallVector<const llvm::AllocaInst*, 2> result;
    const auto add = [&](const Value* pointer) {
      if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(pointer)) result.push_back(local);
    };
    add(call_.getRawDest());
    if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call_)) add(copy->getRawSource());
    return result;
  }

  /// A structure whose members fill the length without gaps.
  bool find_pieces(llvm::SmallVectorImpl<Piece>& pieces) const {
    for (const llvm::AllocaInst* local : locals()) {
      pieces.clear();
      if (!local->getAllocatedType()->isAggregateType() || !flatten(local->getAllocatedType(), 0, layout_, pieces))
        continue;
      uint64_t end = 0;
      size_t count = 0;
      for (; count < pieces.size() && end < length_ && pieces[count].offset == end; ++count) {
        end += layout_.getTypeStoreSize(pieces[count].type).getFixedValue();
        if (!is_plain(pieces[count].type)) break;
      }
      if (end != length_) continue;
      pieces.truncate(count);
      return true;
    }
    return false;
  }

  bool is_plain(llvm::Type* type) const {
    return (type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy()) &&
           layout_.getTypeSizeInBits(type) == layout_.getTypeAllocSizeInBits(type);
  }

  llvm::Type* find_element() const {
    const auto fits = [&](llvm::Type* type) {
      return type && is_plain(type) && length_ % layout_.getTypeStoreSize(type).getFixedValue() == 0;
    };
    const auto root = [](const Value* pointer) {
      return llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0));
    };
    llvm::SmallVector<const llvm::AllocaInst*, 2> objects = {root(call_.getRawDest())};
    if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call_)) objects.push_back(root(copy->getRawSource()));
    for (const llvm::AllocaInst* object : objects) {
      if (!object) continue;
      if (llvm::Type* type = element_of(object->getAllocatedType()); fits(type) && !type->isIntegerTy(8)) return type;
      if (llvm::Type* type = accessed_as(*object); fits(type)) return type;
    }
    const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call_);
    llvm::Align align = call_.getDestAlign().valueOrOne();
    if (copy) align = std::min(align, copy->getSourceAlign().valueOrOne());
    uint64_t size = std::min<uint64_t>(8, align.value());
    while (length_ % size != 0) size /= 2;
    return llvm::Type::getIntNTy(call_.getContext(), static_cast<unsigned>(size * 8));
  }

  /// The value to store at `offset`; `known` is the part of the offset that is constant, for the alignment.
  Value* value(llvm::Type* type, Value* offset, uint64_t known) {
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call_)) {
      Value* place = build_.CreateGEP(build_.getInt8Ty(), copy->getRawSource(), offset);
      auto* load = build_.CreateAlignedLoad(type, place, commonAlignment(copy->getSourceAlign().valueOrOne(), known));
      load->setVolatile(call_.isVolatile());
      return load;
    }
    Value* byte = llvm::cast<llvm::MemSetInst>(call_).getValue();
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(byte);
    if (constant && constant->isZero()) return llvm::Constant::getNullValue(type);
    const auto bits = static_cast<unsigned>(layout_.getTypeSizeInBits(type).getFixedValue());
    llvm::Type* number = build_.getIntNTy(bits);
    const llvm::APInt ones = llvm::APInt::getSplat(bits, llvm::APInt(8, 1));
    Value* filled = build_.CreateMul(build_.CreateZExt(byte, number), llvm::ConstantInt::get(number, ones));
    return type->isPointerTy() ? build_.CreateIntToPtr(filled, type) : build_.CreateBitCast(filled, type);
  }

  void put(Value* value, Value* offset, uint64_t known) {
    Value* place = build_.CreateGEP(build_.getInt8Ty(), call_.getRawDest(), offset);
    build_.CreateAlignedStore(value, place, commonAlignment(call_.getDestAlign().valueOrOne(), known),
                              call_.isVolatile());
  }

  bool write_loop(llvm::Type* element, uint64_t size) {
    if (llvm::isa<llvm::MemMoveInst>(call_)) return false;
    llvm::BasicBlock* before = call_.getParent();
    llvm::BasicBlock* behind = llvm::SplitBlock(before, &call_);
    llvm::BasicBlock* body = llvm::BasicBlock::Create(build_.getContext(), "fill", before->getParent(), behind);
    before->getTerminator()->setSuccessor(0, body);
    build_.SetInsertPoint(body);
    build_.SetCurrentDebugLocation(call_.getDebugLoc());
    llvm::PHINode* offset = build_.CreatePHI(build_.getInt64Ty(), 2);
    put(value(element, offset, size), offset, size);
    Value* next = build_.CreateAdd(offset, build_.getInt64(size), "", /*HasNUW=*/true, /*HasNSW=*/true);
    offset->addIncoming(build_.getInt64(0), before);
    offset->addIncoming(next, body);
    build_.CreateCondBr(build_.CreateICmpULT(next, build_.getInt64(length_)), body, behind);
    return true;
  }

  llvm::MemIntrinsic& call_;
  const uint64_t length_;
  const llvm::DataLayout& layout_;
  llvm::IRBuilder<> build_;
};

/// Calls with a constant length inside of loops whose rounds are elements.
llvm::SmallVector<llvm::MemIntrinsic*, 8> find_calls(llvm::Function& function) {
  llvm::SmallVector<llvm::MemIntrinsic*, 8> calls;
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::SmallVector<const llvm::Loop*, 4> lane_loops;
  const auto is_marker = [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && call->getCalledFunction() && call->getCalledFunction()->getName() == kMarkerName;
  };
  for (const llvm::BasicBlock& block : function) {
    const llvm::Loop* loop = loops.getLoopFor(&block);
    if (loop && llvm::any_of(block, is_marker)) lane_loops.push_back(loop);
  }
  for (llvm::BasicBlock& block : function) {
    if (llvm::none_of(lane_loops, [&](const llvm::Loop* loop) { return loop->contains(&block); })) continue;
    for (llvm::Instruction& instruction : block) {
      auto* call = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction);
      if (call && llvm::isa<llvm::ConstantInt>(call->getLength())) calls.push_back(call);
    }
  }
  return calls;
}

}  // namespace

bool expand_memory_intrinsics(llvm::Function& function) {
  bool changed = false;
  for (llvm::MemIntrinsic* call : find_calls(function)) {
    const uint64_t length = llvm::cast<llvm::ConstantInt>(call->getLength())->getZExtValue();
    if (length != 0 && !Expansion(*call, length).write()) continue;
    call->eraseFromParent();
    changed = true;
  }
  return changed;
}

}  // namespace iruka::cpu_backend::spmd
