#include "backend/cpu/spmd/private_memory.h"

#include "backend/cpu/spmd/region.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/KnownBits.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Value;

/// The base of a pointer, through address arithmetic and the single-value phis of LCSSA form.
const Value* root_of(const Value* pointer) {
  while (true) {
    if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      pointer = address->getPointerOperand();
      continue;
    }
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer);
    const Value* only = phi ? phi->hasConstantValue() : nullptr;
    if (!only) return pointer;
    pointer = only;
  }
}

/// Whether only the loop uses the local and its lifetime begins inside; otherwise elements share it.
bool belongs_to_element(const llvm::AllocaInst& local, const LaneLoop& loop) {
  bool begins = false;
  for (const llvm::User* user : local.users()) {
    const auto* instruction = llvm::cast<llvm::Instruction>(user);
    const auto* marker = llvm::dyn_cast<llvm::LifetimeIntrinsic>(instruction);
    if (!loop.contains(instruction)) return false;
    begins |= marker && marker->getIntrinsicID() == llvm::Intrinsic::lifetime_start;
  }
  return begins && local.isStaticAlloca();
}

/// Checks whether a local is an array of equal elements that are always accessed as a whole.
class GranuleSearch {
 public:
  explicit GranuleSearch(const llvm::DataLayout& layout) : layout_(layout) {}

  int64_t search(const llvm::AllocaInst& local, int64_t size) {
    if (!visit(local) || granule_ == 0 || size % granule_ != 0) return 0;
    for (const llvm::GEPOperator* address : addresses_) {
      if (!keeps_granules(*address)) return 0;
    }
    return granule_;
  }

 private:
  bool visit(const Value& pointer) {
    if (!seen_.insert(&pointer).second) return true;
    for (const llvm::Use& use : pointer.uses()) {
      const llvm::User* user = use.getUser();
      if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(user)) {
        addresses_.push_back(address);
        if (!visit(*address)) return false;
      } else if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(user)) {
        if (phi->hasConstantValue() != &pointer || !visit(*phi)) return false;
      } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        if (!take(load->getType())) return false;
      } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
        if (store->getPointerOperand() != &pointer || store->getValueOperand() == &pointer) return false;
        if (!take(store->getValueOperand()->getType())) return false;
      } else if (!llvm::cast<llvm::Instruction>(user)->isLifetimeStartOrEnd()) {
        return false;
      }
    }
    return true;
  }

  bool take(llvm::Type* type) {
    const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(type).getFixedValue());
    if (granule_ == 0) granule_ = size;
    return granule_ == size && size == static_cast<int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
  }

  bool keeps_granules(const llvm::GEPOperator& address) const {
    const auto granule = static_cast<uint64_t>(granule_);
    for (auto step = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); step != end; ++step) {
      if (llvm::StructType* structure = step.getStructTypeOrNull()) {
        const auto member = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(step.getOperand())->getZExtValue());
        if (layout_.getStructLayout(structure)->getElementOffset(member).getFixedValue() % granule != 0) return false;
        continue;
      }
      const uint64_t scale = step.getSequentialElementStride(layout_).getFixedValue();
      if (scale % granule == 0) continue;
      // The address may count bytes; the index itself must then be a multiple.
      const unsigned zeros = llvm::computeKnownBits(step.getOperand(), layout_).countMinTrailingZeros();
      const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step.getOperand());
      const uint64_t factor = constant ? constant->getZExtValue() : uint64_t{1} << std::min(zeros, 16u);
      if (scale * factor % granule != 0) return false;
    }
    return true;
  }

  const llvm::DataLayout& layout_;
  int64_t granule_ = 0;
  llvm::SmallPtrSet<const Value*, 16> seen_;
  llvm::SmallVector<const llvm::GEPOperator*, 16> addresses_;
};

}  // namespace

PrivateMemory::PrivateMemory(const LaneLoop& loop) {
  const llvm::DataLayout& layout = loop.header->getDataLayout();
  for (llvm::Instruction& instruction : loop.header->getParent()->getEntryBlock()) {
    const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!local || !belongs_to_element(*local, loop)) continue;
    PrivateLayout place;
    place.size =
        static_cast<int64_t>(llvm::alignTo(local->getAllocationSize(layout)->getFixedValue(), local->getAlign()));
    if (place.size == 0) continue;
    place.granule = GranuleSearch(layout).search(*local, place.size);
    locals_[local] = place;
    escapes_ |= llvm::PointerMayBeCaptured(local, /*ReturnCaptures=*/false);
  }
}

const PrivateLayout* PrivateMemory::find(const llvm::AllocaInst* local) const {
  const auto found = locals_.find(local);
  return found == locals_.end() ? nullptr : &found->second;
}

const PrivateLayout* PrivateMemory::layout_of(const Value* pointer) const {
  if (locals_.empty()) return nullptr;
  const auto* local = llvm::dyn_cast<llvm::AllocaInst>(root_of(pointer));
  return local ? find(local) : nullptr;
}

bool PrivateMemory::is_side_by_side(const Value* pointer) const {
  const PrivateLayout* layout = layout_of(pointer);
  return layout && layout->granule != 0;
}

bool PrivateMemory::may_be_private(const Value* pointer) const {
  if (locals_.empty()) return false;
  llvm::SmallVector<const Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  return llvm::any_of(objects, [&](const Value* object) {
    if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(object)) return find(local) != nullptr;
    if (!escapes_ || llvm::isa<llvm::Argument>(object) || llvm::isa<llvm::Constant>(object)) return false;
    // The arguments of a kernel never point into a local.
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
    return !load || !llvm::isa<llvm::Argument>(llvm::getUnderlyingObject(load->getPointerOperand(), /*MaxLookup=*/0));
  });
}

int64_t PrivateMemory::frame_bytes(int lanes) const {
  int64_t bytes = 0;
  for (const auto& [local, layout] : locals_) bytes += layout.size * lanes;
  return bytes;
}

}  // namespace iruka::cpu_backend::spmd
