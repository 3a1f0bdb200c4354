#include "backend/cpu/compiler/local_memory_pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace iruka::cpu_backend {
namespace {

using llvm::Instruction;
using llvm::Loop;
using llvm::Value;

constexpr const char* kParallel = "llvm.loop.parallel_accesses";
constexpr const char* kForced = "llvm.loop.vectorize.enable";

bool is_marked_parallel(const Loop& loop) { return llvm::findOptionMDForLoop(&loop, kParallel) != nullptr; }

/// A pointer of unknown origin (loaded, computed from an integer) can point into a local only if one has escaped.
bool has_escaping_local(llvm::Function& function) {
  for (Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::AllocaInst>(instruction) && llvm::PointerMayBeCaptured(&instruction, /*ReturnCaptures=*/true)) {
      return true;
    }
  }
  return false;
}

/// The locals a loop touches, with the instructions that do.
struct LocalAccesses {
  llvm::MapVector<const Value*, llvm::SmallVector<Instruction*, 4>> by_local;
  bool unknown = false;  ///< some access may touch an unknown local
};

/// Memory that the caller owns: the argument block and the memory that its pointers refer to.
bool is_from_arguments(const Value* object, bool local_escapes) {
  if (llvm::isa<llvm::Argument>(object)) return true;
  if (!local_escapes) return true;
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
  if (!load) return false;
  llvm::SmallVector<const Value*, 4> sources;
  llvm::getUnderlyingObjects(load->getPointerOperand(), sources, nullptr, /*MaxLookup=*/0);
  return llvm::all_of(sources, [](const Value* source) { return llvm::isa<llvm::Argument>(source); });
}

LocalAccesses find_local_accesses(const Loop& loop, bool local_escapes) {
  LocalAccesses found;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (Instruction& instruction : *block) {
      const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (!pointer) continue;
      llvm::SmallVector<const Value*, 4> objects;
      llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
      for (const Value* object : objects) {
        if (llvm::isa<llvm::AllocaInst>(object) || llvm::isa<llvm::GlobalVariable>(object)) {
          found.by_local[object].push_back(&instruction);
        } else if (!is_from_arguments(object, local_escapes)) {
          found.unknown = true;
        }
      }
    }
  }
  return found;
}

/// Whether every round accesses a part of the local of its own: all addresses advance by the same constant step, and a
/// round's accesses lie within one step.
bool is_split_by_rounds(llvm::ArrayRef<Instruction*> accesses, const Loop& loop, llvm::ScalarEvolution& evolution) {
  const llvm::DataLayout& layout = accesses.front()->getDataLayout();
  const llvm::SCEVAddRecExpr* first = nullptr;
  int64_t lowest = 0, highest = 0, step = 0;
  for (Instruction* access : accesses) {
    const llvm::SCEV* address = evolution.getSCEV(llvm::getLoadStorePointerOperand(access));
    const auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(address);
    if (!walk || walk->getLoop() != &loop || !walk->isAffine()) return false;
    const auto* stride = llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(evolution));
    const llvm::TypeSize size = layout.getTypeStoreSize(llvm::getLoadStoreType(access));
    if (!stride || size.isScalable()) return false;
    if (!first) {
      first = walk;
      step = stride->getAPInt().getSExtValue();
    }
    const auto* offset = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(walk, first));
    if (!offset) return false;
    lowest = std::min(lowest, offset->getAPInt().getSExtValue());
    highest = std::max(highest, offset->getAPInt().getSExtValue() + static_cast<int64_t>(size.getFixedValue()));
  }
  return highest - lowest <= std::abs(step);
}

bool shares_local_memory(const Loop& loop, bool local_escapes, llvm::ScalarEvolution& evolution) {
  const LocalAccesses found = find_local_accesses(loop, local_escapes);
  if (found.unknown) return true;
  return llvm::any_of(found.by_local, [&](const auto& local) {
    const bool written =
        llvm::any_of(local.second, [](Instruction* access) { return llvm::isa<llvm::StoreInst>(access); });
    return written && !is_split_by_rounds(local.second, loop, evolution);
  });
}

/// Whether a round may read what it wrote itself. LLVM's vectoriser takes the promise to mean that it may not, and
/// moves such reads in front of the writes.
bool reads_after_writing(const Loop& loop, llvm::LoopInfo& loops) {
  llvm::LoopBlocksRPO order(const_cast<Loop*>(&loop));
  order.perform(&loops);
  bool has_written = false;
  for (llvm::BasicBlock* block : order) {
    for (Instruction& instruction : *block) {
      const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (!pointer || llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer))) continue;
      if (llvm::isa<llvm::StoreInst>(instruction))
        has_written = true;
      else if (has_written && !instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load))
        return true;
    }
  }
  return false;
}

/// A store of a loop's round, and how far its address moves from round to round.
struct Store {
  const llvm::SCEV* address = nullptr;
  int64_t size = 0;             ///< bytes
  bool can_join_group = false;  ///< whether LLVM's vectoriser may write it together with its neighbours
};

Store describe_store(llvm::StoreInst& store, const Loop& loop, llvm::ScalarEvolution& evolution) {
  Store result;
  result.address = evolution.getSCEV(store.getPointerOperand());
  result.size = static_cast<int64_t>(
      store.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType()).getKnownMinValue());
  const auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(result.address);
  if (!walk || walk->getLoop() != &loop || !walk->isAffine()) return result;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(evolution));
  result.can_join_group = step && step->getAPInt().abs().sgt(result.size);
  return result;
}

/// Whether both stores may write the same bytes in one round.
bool may_overlap(const Store& one, const Store& other, llvm::ScalarEvolution& evolution) {
  const auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(other.address, one.address));
  if (!distance) return true;
  const int64_t bytes = distance->getAPInt().getSExtValue();
  return bytes < one.size && -bytes < other.size;
}

/// Whether a round may write a place twice while LLVM's vectoriser writes one of both places later than the text does:
/// it joins stores with a constant distance from round to round and writes them where the last one stands.
bool writes_twice(const Loop& loop, llvm::ScalarEvolution& evolution) {
  constexpr size_t kMostStores = 100;
  llvm::SmallVector<Store, 16> stores;
  bool has_group = false;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (Instruction& instruction : *block) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (!store || llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()))) continue;
      stores.push_back(describe_store(*store, loop, evolution));
      has_group |= stores.back().can_join_group;
    }
  }
  if (!has_group || stores.size() > kMostStores) return has_group;
  for (size_t k = 0; k < stores.size(); ++k) {
    for (size_t before = 0; before < k; ++before) {
      if (!stores[k].can_join_group && !stores[before].can_join_group) continue;
      if (may_overlap(stores[before], stores[k], evolution)) return true;
    }
  }
  return false;
}

void withdraw_promise(Loop& loop, llvm::LLVMContext& context) {
  loop.setLoopID(llvm::makePostTransformationMetadata(context, loop.getLoopID(), {kParallel, kForced}, {}));
}

}  // namespace

llvm::PreservedAnalyses LocalMemoryPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  if (loops.empty()) return llvm::PreservedAnalyses::all();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const bool local_escapes = has_escaping_local(function);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (is_marked_parallel(*loop) && (shares_local_memory(*loop, local_escapes, evolution) ||
                                      reads_after_writing(*loop, loops) || writes_twice(*loop, evolution))) {
      withdraw_promise(*loop, function.getContext());
    }
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace iruka::cpu_backend
