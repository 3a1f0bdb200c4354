#include "backend/cpu/spmd/constant_arrays.h"

#include <optional>
#include <set>
#include <vector>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;
using llvm::Value;

/// The place among the arguments from which an array's pointer is loaded; each access may load it anew.
std::optional<int64_t> place_of(const Value* object) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
  if (!load) return std::nullopt;
  llvm::APInt offset(64, 0);
  const Value* const block =
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(load->getDataLayout(), offset, true);
  if (!llvm::isa<llvm::Argument>(block)) return std::nullopt;
  return offset.getSExtValue();
}

class ConstantLoads {
 public:
  explicit ConstantLoads(llvm::Function& function) : function_(function) {
    for (Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* const callee = call ? call->getCalledFunction() : nullptr;
      if (!callee) continue;
      const bool is_output = callee->getName() == kOutputArrayName;
      if (!is_output && callee->getName() != kSeparateArrayName) continue;
      if (const auto place = place_of(call->getArgOperand(0))) (is_output ? outputs_ : separate_).insert(*place);
    }
  }

  bool mark() {
    if (separate_.empty()) return false;
    for (const Instruction& instruction : llvm::instructions(function_))
      if (!writes_outputs_alone(instruction)) return false;
    bool is_changed = false;
    for (Instruction& instruction : llvm::instructions(function_)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || !load->isSimple() || !is_in(load->getPointerOperand(), separate_, /*or_local=*/false)) continue;
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
      is_changed = true;
    }
    return is_changed;
  }

 private:
  static bool is_in(const Value* pointer, const std::set<int64_t>& places, bool or_local) {
    llvm::SmallVector<const Value*, 4> objects;
    llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
    return llvm::all_of(objects, [&](const Value* object) {
      if (or_local && llvm::isa<llvm::AllocaInst>(object)) return true;
      const auto place = place_of(object);
      return place && places.contains(*place);
    });
  }

  bool writes_outputs_alone(const Instruction& instruction) const {
    if (!instruction.mayWriteToMemory()) return true;
    const Value* pointer = nullptr;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      pointer = store->getPointerOperand();
    } else if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      pointer = update->getPointerOperand();
    } else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      pointer = exchange->getPointerOperand();
    } else if (const auto* intrinsic = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
      pointer = intrinsic->getDest();
    } else {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      return call && (call->onlyAccessesInaccessibleMemory() || call->isLifetimeStartOrEnd());
    }
    return is_in(pointer, outputs_, /*or_local=*/true);
  }

  llvm::Function& function_;
  std::set<int64_t> outputs_, separate_;
};

}  // namespace

bool mark_constant_loads(llvm::Function& function) { return ConstantLoads(function).mark(); }

}  // namespace iruka::cpu_backend::spmd
