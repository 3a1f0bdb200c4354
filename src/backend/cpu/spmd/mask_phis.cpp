#include "backend/cpu/spmd/mask_phis.h"

#include <algorithm>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Value;

bool is_mask(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getElementType()->isIntegerTy(1);
}

/// Bits of what was compared to make `mask`, through the logic in between; 0 where that is not seen.
unsigned compared_bits(const Value* mask, llvm::SmallPtrSetImpl<const Value*>& seen) {
  if (!seen.insert(mask).second || seen.size() > 32) return 0;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(mask);
  if (!instruction || !is_mask(mask->getType())) return 0;
  if (llvm::isa<llvm::CmpInst>(instruction)) return instruction->getOperand(0)->getType()->getScalarSizeInBits();
  for (const Value* operand : instruction->operands()) {
    if (const unsigned bits = compared_bits(operand, seen)) return bits;
  }
  return 0;
}

}  // namespace

llvm::PreservedAnalyses MaskPhiPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::PHINode*, 16> phis;
  for (llvm::BasicBlock& block : function) {
    for (llvm::PHINode& phi : block.phis()) {
      if (is_mask(phi.getType())) phis.push_back(&phi);
    }
  }
  if (phis.empty()) return llvm::PreservedAnalyses::all();
  for (llvm::PHINode* phi : phis) {
    auto* type = llvm::cast<llvm::FixedVectorType>(phi->getType());
    llvm::SmallPtrSet<const Value*, 32> seen;
    unsigned bits = compared_bits(phi, seen);
    if (bits == 0) bits = std::clamp(static_cast<unsigned>(vector_bytes_) * 8 / type->getNumElements(), 8u, 32u);
    auto* wide = llvm::FixedVectorType::get(llvm::Type::getIntNTy(function.getContext(), bits), type->getNumElements());
    llvm::IRBuilder<> build(phi);
    llvm::PHINode* replacement = build.CreatePHI(wide, phi->getNumIncomingValues());
    build.SetInsertPoint(phi->getParent(), phi->getParent()->getFirstInsertionPt());
    Value* mask = build.CreateICmpSLT(replacement, llvm::Constant::getNullValue(wide));
    phi->replaceAllUsesWith(mask);
    llvm::SmallDenseMap<Value*, Value*> extended;
    for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k) {
      // Where the mask is made, so that it does not cross a block on its way here either.
      Value*& lanes = extended[phi->getIncomingValue(k)];
      if (!lanes) {
        auto* definition = llvm::dyn_cast<llvm::Instruction>(phi->getIncomingValue(k));
        if (definition) build.SetInsertPoint(definition->getParent(), *definition->getInsertionPointAfterDef());
        else build.SetInsertPoint(phi->getIncomingBlock(k)->getTerminator());
        lanes = build.CreateSExt(phi->getIncomingValue(k), wide);
      }
      replacement->addIncoming(lanes, phi->getIncomingBlock(k));
    }
    phi->eraseFromParent();
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace iruka::cpu_backend::spmd
