#include "backend/cpu/spmd/merged_locals.h"

#include <utility>
#include <vector>

#include "backend/cpu/spmd/lane_loop.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;
using llvm::Value;

bool is_choice(const Value* value) { return llvm::isa<llvm::PHINode, llvm::SelectInst>(value); }

/// The pointers that a phi or select chooses from.
llvm::SmallVector<Value*, 4> choices_of(Instruction& choice) {
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&choice))
    return {select->getTrueValue(), select->getFalseValue()};
  auto& phi = llvm::cast<llvm::PHINode>(choice);
  return {phi.incoming_values().begin(), phi.incoming_values().end()};
}

/// Local arrays, and all pointers into them.
class LocalGroup {
 public:
  LocalGroup(std::vector<llvm::AllocaInst*> locals, llvm::CallInst& marker)
      : locals_(std::move(locals)), marker_(marker), layout_(marker.getDataLayout()) {}

  /// Whether all that is done with the arrays is to load and store elements of one size.
  bool can_merge() {
    for (llvm::AllocaInst* local : locals_) {
      if (local->isArrayAllocation() || !local->isStaticAlloca() || !visit(*local)) return false;
    }
    if (!element_ || choices_.empty()) return false;
    size_ = static_cast<int64_t>(layout_.getTypeStoreSize(element_).getFixedValue());
    if (layout_.getTypeAllocSize(element_).getFixedValue() != static_cast<uint64_t>(size_)) return false;
    for (const llvm::GetElementPtrInst* address : addresses_)
      if (!counts_elements(*address)) return false;
    for (Instruction* choice : choices_) {
      for (const Value* pointer : choices_of(*choice))
        if (!is_known(pointer)) return false;
    }
    return true;
  }

  void merge() {
    place_locals();
    make_indices();
    for (auto& [choice, index] : indices_) {
      llvm::IRBuilder<> build(choice->getParent(), llvm::isa<llvm::PHINode>(choice)
                                                       ? choice->getParent()->getFirstInsertionPt()
                                                       : std::next(choice->getIterator()));
      choice->replaceAllUsesWith(build.CreateGEP(element_, merged_, index));
    }
    for (Instruction* choice : choices_) choice->replaceAllUsesWith(llvm::PoisonValue::get(choice->getType()));
    for (Instruction* choice : choices_) choice->eraseFromParent();
    for (llvm::AllocaInst* local : locals_) replace(*local);
  }

 private:
  bool visit(Value& pointer) {
    if (!known_.insert(&pointer)) return true;
    for (llvm::Use& use : pointer.uses()) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      if (user->isLifetimeStartOrEnd()) continue;
      if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
        if (address->getType()->isVectorTy() || !visit(*address)) return false;
        addresses_.insert(address);
      } else if (is_choice(user)) {
        choices_.insert(user);
        if (!visit(*user)) return false;
      } else if (!is_access(*user, use)) {
        return false;
      }
    }
    return true;
  }

  bool is_access(const Instruction& instruction, const llvm::Use& use) {
    if (llvm::getLoadStorePointerOperand(&instruction) != use.get() || instruction.isVolatile() ||
        instruction.isAtomic())
      return false;
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store && store->getValueOperand() == use.get()) return false;
    llvm::Type* const type = llvm::getLoadStoreType(&instruction);
    if (element_ && layout_.getTypeStoreSize(element_) != layout_.getTypeStoreSize(type)) return false;
    element_ = element_ ? element_ : type;
    return type->isSingleValueType();
  }

  bool is_known(const Value* pointer) const {
    return llvm::isa<llvm::UndefValue>(pointer) || known_.contains(const_cast<Value*>(pointer));
  }

  /// Whether the address advances by whole elements.
  bool counts_elements(const llvm::GetElementPtrInst& address) const {
    for (auto step = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); step != end; ++step) {
      if (llvm::StructType* structure = step.getStructTypeOrNull()) {
        if (member_offset(*structure, step.getOperand()) % size_ != 0) return false;
        continue;
      }
      const auto stride = static_cast<int64_t>(step.getSequentialElementStride(layout_).getFixedValue());
      const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step.getOperand());
      if (stride % size_ != 0 && !(constant && constant->getSExtValue() * stride % size_ == 0)) return false;
    }
    return true;
  }

  int64_t member_offset(llvm::StructType& structure, const Value* number) const {
    const auto member = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(number)->getZExtValue());
    return static_cast<int64_t>(layout_.getStructLayout(&structure)->getElementOffset(member).getFixedValue());
  }

  /// One array for all, which begins anew with each element.
  void place_locals() {
    int64_t end = 0;
    llvm::Align largest = llvm::Align(1);
    for (llvm::AllocaInst* local : locals_) {
      const auto unit = static_cast<uint64_t>(size_);
      const auto bytes = llvm::alignTo(local->getAllocationSize(layout_)->getFixedValue(), unit);
      end = static_cast<int64_t>(llvm::alignTo(llvm::alignTo(static_cast<uint64_t>(end), local->getAlign()), unit));
      places_[local] = end / size_;
      end += static_cast<int64_t>(bytes);
      largest = std::max(largest, local->getAlign());
    }
    llvm::IRBuilder<> build(locals_.front());
    merged_ = build.CreateAlloca(llvm::ArrayType::get(element_, static_cast<uint64_t>(end / size_)));
    merged_->setAlignment(largest);
    build.SetInsertPoint(marker_.getNextNode());
    build.CreateLifetimeStart(merged_);
  }

  void make_indices() {
    llvm::Type* const type = llvm::Type::getInt64Ty(merged_->getContext());
    for (Instruction* choice : choices_) {
      llvm::IRBuilder<> build(choice);
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(choice)) {
        indices_[choice] = build.CreatePHI(type, phi->getNumIncomingValues());
      } else {
        Value* const zero = llvm::ConstantInt::get(type, 0);
        indices_[choice] = llvm::SelectInst::Create(llvm::cast<llvm::SelectInst>(choice)->getCondition(), zero, zero,
                                                    "", choice->getIterator());
      }
    }
    for (auto& [choice, index] : indices_) {
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(choice)) {
        for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k) {
          llvm::IRBuilder<> build(phi->getIncomingBlock(k)->getTerminator());
          llvm::cast<llvm::PHINode>(index)->addIncoming(index_of(build, phi->getIncomingValue(k)),
                                                        phi->getIncomingBlock(k));
        }
      } else {
        llvm::IRBuilder<> build(llvm::cast<Instruction>(index));
        for (unsigned k = 1; k < 3; ++k)
          llvm::cast<Instruction>(index)->setOperand(k, index_of(build, choice->getOperand(k)));
      }
    }
  }

  /// The element of the merged array that a pointer names.
  Value* index_of(llvm::IRBuilder<>& build, Value* pointer) {
    if (llvm::isa<llvm::UndefValue>(pointer)) return llvm::PoisonValue::get(build.getInt64Ty());
    if (const auto place = places_.find(pointer); place != places_.end())
      return build.getInt64(static_cast<uint64_t>(place->second));
    if (const auto index = indices_.find(llvm::cast<Instruction>(pointer)); index != indices_.end())
      return index->second;
    auto& address = llvm::cast<llvm::GetElementPtrInst>(*pointer);
    Value* index = index_of(build, address.getPointerOperand());
    for (auto step = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); step != end; ++step) {
      if (llvm::StructType* structure = step.getStructTypeOrNull()) {
        index = build.CreateAdd(
            index, build.getInt64(static_cast<uint64_t>(member_offset(*structure, step.getOperand()) / size_)));
        continue;
      }
      const auto stride = static_cast<int64_t>(step.getSequentialElementStride(layout_).getFixedValue());
      if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step.getOperand())) {
        index =
            build.CreateAdd(index, build.getInt64(static_cast<uint64_t>(constant->getSExtValue() * stride / size_)));
      } else {
        Value* const number = build.CreateSExtOrTrunc(step.getOperand(), build.getInt64Ty());
        index = build.CreateAdd(index, build.CreateMul(number, build.getInt64(static_cast<uint64_t>(stride / size_))));
      }
    }
    return index;
  }

  /// Addresses are made where they are used: what belongs to an element has no use outside of its loop.
  void replace(llvm::AllocaInst& local) {
    for (llvm::Use& use : llvm::make_early_inc_range(local.uses())) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      if (user->isLifetimeStartOrEnd()) {
        user->eraseFromParent();
        continue;
      }
      llvm::IRBuilder<> build(user);
      use.set(build.CreateConstInBoundsGEP1_64(element_, merged_, static_cast<uint64_t>(places_[&local])));
    }
    local.eraseFromParent();
  }

  std::vector<llvm::AllocaInst*> locals_;
  llvm::CallInst& marker_;
  const llvm::DataLayout& layout_;
  llvm::Type* element_ = nullptr;
  int64_t size_ = 0;  ///< of an element, in bytes
  llvm::SmallSetVector<Value*, 16> known_;
  llvm::SmallSetVector<llvm::GetElementPtrInst*, 16> addresses_;
  llvm::SmallSetVector<Instruction*, 4> choices_;
  llvm::AllocaInst* merged_ = nullptr;
  llvm::MapVector<const Value*, int64_t> places_;  ///< the first element of each local
  llvm::MapVector<Instruction*, Value*> indices_;  ///< of each choice
};

/// Locals that pointers choose from, and those into which a pointer walks.
llvm::EquivalenceClasses<llvm::AllocaInst*> chosen_locals(llvm::Function& function) {
  llvm::EquivalenceClasses<llvm::AllocaInst*> classes;
  for (Instruction& instruction : llvm::instructions(function)) {
    if (!is_choice(&instruction) || !instruction.getType()->isPointerTy()) continue;
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
    if (phi && phi->hasConstantValue()) continue;
    llvm::SmallVector<const Value*, 4> objects;
    llvm::getUnderlyingObjects(&instruction, objects, nullptr, /*MaxLookup=*/0);
    llvm::AllocaInst* first = nullptr;
    for (const Value* object : objects) {
      auto* local = llvm::dyn_cast<llvm::AllocaInst>(const_cast<Value*>(object));
      if (!local) continue;
      classes.insert(local);
      if (first) classes.unionSets(first, local);
      first = local;
    }
  }
  return classes;
}

/// The marker of the lane loop to whose elements all locals belong, or null.
llvm::CallInst* marker_of(llvm::ArrayRef<llvm::AllocaInst*> locals, llvm::ArrayRef<llvm::CallInst*> markers,
                          const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops) {
  for (llvm::CallInst* marker : markers) {
    const llvm::Loop* const loop = loops.getLoopFor(marker->getParent());
    const bool dominates = llvm::all_of(locals, [&](const llvm::AllocaInst* local) {
      return llvm::all_of(local->users(), [&](const llvm::User* user) {
        const auto* use = llvm::cast<Instruction>(user);
        return loop && loop->contains(use) && dominators.dominates(marker, use);
      });
    });
    if (dominates) return marker;
  }
  return nullptr;
}

}  // namespace

bool merge_locals(llvm::Function& function, const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops) {
  const auto classes = chosen_locals(function);
  if (classes.empty()) return false;
  const std::vector<llvm::CallInst*> markers = find_markers(function);
  std::vector<LocalGroup> groups;
  for (const auto* member : classes) {
    if (!member->isLeader()) continue;
    std::vector<llvm::AllocaInst*> locals(classes.member_begin(*member), classes.member_end());
    llvm::CallInst* const marker = marker_of(locals, markers, dominators, loops);
    if (!marker) continue;
    LocalGroup group(std::move(locals), *marker);
    if (group.can_merge()) groups.push_back(std::move(group));
  }
  for (LocalGroup& group : groups) group.merge();
  return !groups.empty();
}

}  // namespace iruka::cpu_backend::spmd
