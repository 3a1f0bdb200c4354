// Locals that elements share: variables of loop_prep and buffers of the loops around.
#include "backend/cpu/spmd/address.h"
#include "backend/cpu/spmd/private_memory.h"
#include "backend/cpu/spmd/region.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;
using llvm::Value;

/// The body's accesses to one shared local.
struct Accesses {
  llvm::SmallVector<Instruction*, 4> plain;    ///< loads and stores
  llvm::SmallVector<Instruction*, 4> atomics;  ///< operations whose old value is not used
  Instruction* written = nullptr;
};

class SharedLocals {
 public:
  SharedLocals(const LaneLoop& loop, const PrivateMemory& memory)
      : loop_(loop), memory_(memory), layout_(loop.header->getDataLayout()) {
    for (Instruction& instruction : llvm::instructions(*loop.header->getParent())) {
      const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (local && !memory.find(local)) escapes_ |= llvm::PointerMayBeCaptured(local, /*ReturnCaptures=*/false);
    }
  }

  std::string conflict(Instruction*& culprit) {
    for (llvm::BasicBlock* block : loop_.loop->blocks()) {
      if (!loop_.contains(block)) continue;
      for (Instruction& instruction : *block) {
        if (std::string reason = visit(instruction); !reason.empty()) {
          culprit = &instruction;
          return reason;
        }
      }
    }
    for (const auto& [local, accesses] : by_local_) {
      if (is_harmless(local, accesses)) continue;
      culprit = accesses.written;
      return "elements write to a variable that they share";
    }
    return {};
  }

 private:
  std::string visit(Instruction& instruction) {
    if (llvm::isa<llvm::AllocaInst>(instruction)) return "a local array of variable length cannot be widened";
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return visit(instruction, load->getPointerOperand(), false);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      return visit(instruction, store->getPointerOperand(), true);
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      return visit(instruction, update->getPointerOperand(), true);
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      return visit(instruction, exchange->getPointerOperand(), true);
    }
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call || call->isLifetimeStartOrEnd() || !call->mayReadOrWriteMemory()) return {};
    for (const Value* argument : call->args()) {
      if (!argument->getType()->isPointerTy()) continue;
      std::string reason = visit(instruction, argument, call->mayWriteToMemory());
      if (!reason.empty()) return reason;
    }
    return {};
  }

  std::string visit(Instruction& instruction, const Value* pointer, bool writes) {
    llvm::SmallVector<const Value*, 4> objects;
    llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
    for (const Value* object : objects) {
      const auto* local = llvm::dyn_cast<llvm::AllocaInst>(object);
      // Nothing writes to a constant, such as the format of printf; threads share variables by their own rules.
      const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object);
      if (variable && (loop_.has_threads || variable->isConstant())) continue;
      if (local ? memory_.find(local) != nullptr : !llvm::isa<llvm::GlobalVariable>(object)) {
        if (!local && writes && may_be_shared(object)) return "elements may write to a variable that they share";
        continue;
      }
      Accesses& accesses = by_local_[object];
      if (writes) accesses.written = &instruction;
      const bool is_plain = !instruction.isAtomic() || !instruction.use_empty();
      (is_plain ? accesses.plain : accesses.atomics).push_back(&instruction);
    }
    return {};
  }

  /// A pointer of unknown origin can point into a local only if one has escaped; the kernel's arguments hold none.
  bool may_be_shared(const Value* object) const {
    if (!escapes_ || llvm::isa<llvm::Argument>(object)) return false;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
    return !load || !llvm::isa<llvm::Argument>(llvm::getUnderlyingObject(load->getPointerOperand(), /*MaxLookup=*/0));
  }

  bool is_harmless(const Value* local, const Accesses& accesses) const {
    if (!accesses.written || accesses.plain.empty()) return true;
    return accesses.atomics.empty() && is_split_by_elements(local, accesses.plain);
  }

  /// Whether every element accesses a part of the local of its own: all addresses advance by one step from element to
  /// element, and an element's accesses lie within that step.
  bool is_split_by_elements(const Value* local, llvm::ArrayRef<Instruction*> accesses) const {
    int64_t lowest = INT64_MAX, highest = INT64_MIN, step = 0;
    for (const Instruction* access : accesses) {
      const Value* pointer = llvm::getLoadStorePointerOperand(access);
      if (!pointer) return false;
      const AddressSum place = take_apart(pointer, layout_, [](const Value*) { return false; });
      if (place.base != local || place.terms.size() != 1 || place.terms[0].first != loop_.counter) return false;
      if (step && step != place.terms[0].second) return false;
      step = place.terms[0].second;
      const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(llvm::getLoadStoreType(access)).getFixedValue());
      lowest = std::min(lowest, place.offset);
      highest = std::max(highest, place.offset + size);
    }
    return highest - lowest <= std::abs(step);
  }

  const LaneLoop& loop_;
  const PrivateMemory& memory_;
  const llvm::DataLayout& layout_;
  bool escapes_ = false;
  llvm::MapVector<const Value*, Accesses> by_local_;
};

}  // namespace

std::string shared_local_conflict(const LaneLoop& loop, const PrivateMemory& memory, llvm::Instruction*& culprit) {
  return SharedLocals(loop, memory).conflict(culprit);
}

}  // namespace iruka::cpu_backend::spmd
