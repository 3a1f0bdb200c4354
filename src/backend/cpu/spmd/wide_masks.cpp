#include "backend/cpu/spmd/wide_masks.h"

#include <algorithm>

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

bool is_mask(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getElementType()->isIntegerTy(1);
}

/// Whether a value only combines masks.
bool is_logic(const Value* value) {
  const auto* instruction = llvm::dyn_cast<Instruction>(value);
  return instruction && is_mask(instruction->getType()) &&
         (instruction->isBitwiseLogicOp() ||
          llvm::isa<llvm::PHINode, llvm::FreezeInst, llvm::ShuffleVectorInst, llvm::SelectInst>(instruction));
}

class MaskWidening {
 public:
  MaskWidening(llvm::Function& function, int vector_bytes)
      : function_(function), vector_bits_(static_cast<unsigned>(vector_bytes) * 8), build_(function.getContext()) {}

  bool run() {
    collect();
    if (logic_.empty()) return false;
    choose_widths();
    for (Instruction* each : logic_) {
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(each)) {
        build_.SetInsertPoint(phi);
        wide_[phi] = build_.CreatePHI(wide_type(phi), phi->getNumIncomingValues());
      }
    }
    for (Instruction* each : logic_) {
      if (!llvm::isa<llvm::PHINode>(each)) wide_[each] = write(*each);
    }
    for (Instruction* each : logic_) {
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(each)) fill(*phi);
      serve_users(*each);
    }
    for (Instruction* each : logic_) each->replaceAllUsesWith(llvm::PoisonValue::get(each->getType()));
    for (Instruction* each : logic_) each->eraseFromParent();
    return true;
  }

 private:
  void collect() {
    for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_)) {
      for (Instruction& instruction : *block) {
        if (!is_logic(&instruction)) continue;
        logic_.push_back(&instruction);
        connected_.insert(&instruction);
        for (Value* operand : instruction.operands()) {
          if (is_logic(operand)) connected_.unionSets(&instruction, operand);
        }
      }
    }
  }

  /// Connected masks get one width, that of most of their compares.
  void choose_widths() {
    llvm::DenseMap<const Value*, llvm::SmallDenseMap<unsigned, unsigned, 4>> votes;
    for (Instruction* each : logic_) {
      for (const Value* operand : each->operands()) {
        const auto* compare = llvm::dyn_cast<llvm::CmpInst>(operand);
        if (!compare || !is_mask(compare->getType())) continue;
        const unsigned bits = compare->getOperand(0)->getType()->getScalarSizeInBits();
        if (bits == 8 || bits == 16 || bits == 32 || bits == 64) ++votes[connected_.getLeaderValue(each)][bits];
      }
    }
    for (Instruction* each : logic_) {
      unsigned& bits = bits_[connected_.getLeaderValue(each)];
      if (bits) continue;
      const unsigned lanes = llvm::cast<llvm::FixedVectorType>(each->getType())->getNumElements();
      bits = std::clamp(vector_bits_ / lanes, 8u, 32u);
      unsigned most = 0;
      for (const auto& [width, count] : votes[connected_.getLeaderValue(each)]) {
        if (count > most || (count == most && width < bits)) bits = width, most = count;
      }
    }
  }

  llvm::Type* wide_type(const Value* mask, unsigned bits) {
    const auto* type = llvm::cast<llvm::FixedVectorType>(mask->getType());
    return llvm::FixedVectorType::get(build_.getIntNTy(bits), type->getNumElements());
  }
  llvm::Type* wide_type(Instruction* mask) { return wide_type(mask, bits_.lookup(connected_.getLeaderValue(mask))); }

  /// `mask` in `bits` a lane. A value that is not mask logic is widened where it is defined, so that no i1 vector
  /// crosses blocks.
  Value* wide(Value* mask, unsigned bits) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(mask))
      return build_.CreateSExt(constant, wide_type(mask, bits));
    if (is_logic(mask)) return wide_.lookup(mask);
    Value*& lanes = leaves_[{mask, bits}];
    if (lanes) return lanes;
    const llvm::IRBuilderBase::InsertPointGuard guard(build_);
    if (auto* made = llvm::dyn_cast<Instruction>(mask))
      build_.SetInsertPoint(made->getParent(), *made->getInsertionPointAfterDef());
    else
      build_.SetInsertPoint(&function_.getEntryBlock(), function_.getEntryBlock().getFirstInsertionPt());
    return lanes = build_.CreateSExt(mask, wide_type(mask, bits));
  }

  Value* write(Instruction& instruction) {
    build_.SetInsertPoint(&instruction);
    const unsigned bits = bits_.lookup(connected_.getLeaderValue(&instruction));
    const auto operand = [&](unsigned k) { return wide(instruction.getOperand(k), bits); };
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
      Value* condition = select->getCondition();
      if (is_mask(condition->getType())) condition = narrow(operand(0));
      return build_.CreateSelect(condition, operand(1), operand(2));
    }
    if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
      return build_.CreateShuffleVector(operand(0), operand(1), shuffle->getShuffleMask());
    }
    if (llvm::isa<llvm::FreezeInst>(instruction)) return build_.CreateFreeze(operand(0));
    return build_.CreateBinOp(llvm::cast<llvm::BinaryOperator>(instruction).getOpcode(), operand(0), operand(1));
  }

  void fill(llvm::PHINode& phi) {
    auto* replacement = llvm::cast<llvm::PHINode>(wide_.lookup(&phi));
    const unsigned bits = bits_.lookup(connected_.getLeaderValue(&phi));
    for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k) {
      replacement->addIncoming(wide(phi.getIncomingValue(k), bits), phi.getIncomingBlock(k));
    }
  }

  Value* narrow(Value* lanes) { return build_.CreateICmpSLT(lanes, llvm::Constant::getNullValue(lanes->getType())); }

  /// Other users of the mask get a compare in their own block.
  void serve_users(Instruction& mask) {
    Value* lanes = wide_.lookup(&mask);
    llvm::SmallDenseMap<BasicBlock*, Value*, 4> narrowed;
    for (llvm::Use& use : llvm::make_early_inc_range(mask.uses())) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      if (is_logic(user)) continue;
      Value*& compare = narrowed[user->getParent()];
      if (!compare) {
        auto* made = llvm::dyn_cast<Instruction>(lanes);
        if (made && made->getParent() == user->getParent())
          build_.SetInsertPoint(made->getParent(), *made->getInsertionPointAfterDef());
        else
          build_.SetInsertPoint(user->getParent(), user->getParent()->getFirstInsertionPt());
        compare = narrow(lanes);
      }
      use.set(compare);
    }
  }

  llvm::Function& function_;
  const unsigned vector_bits_;
  llvm::IRBuilder<> build_;
  llvm::SmallVector<Instruction*, 32> logic_;  ///< in reverse post-order
  llvm::EquivalenceClasses<Value*> connected_;
  llvm::DenseMap<const Value*, unsigned> bits_;  ///< of a connected set, by its leader
  llvm::DenseMap<const Value*, Value*> wide_;
  llvm::DenseMap<std::pair<Value*, unsigned>, Value*> leaves_;
};

}  // namespace

llvm::PreservedAnalyses WideMaskPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  const bool has_shrunk = llvm::removeUnreachableBlocks(function);  // unreachable blocks would not be rewritten
  return MaskWidening(function, vector_bytes_).run() || has_shrunk ? llvm::PreservedAnalyses::none()
                                                                   : llvm::PreservedAnalyses::all();
}

}  // namespace iruka::cpu_backend::spmd
