#include "backend/cpu/compiler/cancel_pass.h"

#include "backend/cpu/compiler/symbols.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

namespace iruka::cpu_backend {
namespace {

bool has_long_rounds(const llvm::Loop& loop) {
  if (!loop.isInnermost()) return true;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) return true;
    }
  }
  return false;
}

llvm::BasicBlock* make_return(llvm::Function& function) {
  auto* block = llvm::BasicBlock::Create(function.getContext(), "cancelled", &function);
  llvm::IRBuilder<> build(block);
  llvm::Type* type = function.getReturnType();
  type->isVoidTy() ? build.CreateRetVoid() : build.CreateRet(llvm::Constant::getNullValue(type));
  return block;
}

/// Counts rounds in a phi of the header; the poll itself is on a cold path in the latch.
void add_poll(llvm::BasicBlock* header, llvm::BasicBlock* latch, uint32_t period, llvm::BasicBlock* cancelled) {
  llvm::Function& function = *header->getParent();
  llvm::LLVMContext& context = function.getContext();
  llvm::IRBuilder<> build(header, header->begin());
  llvm::PHINode* round = build.CreatePHI(build.getInt32Ty(), 2, "round");

  llvm::BasicBlock* rest = llvm::SplitBlock(latch, latch->getTerminator()->getIterator());
  latch->getTerminator()->eraseFromParent();
  auto* poll = llvm::BasicBlock::Create(context, "poll", &function, rest);
  build.SetInsertPoint(latch);
  llvm::Value* next = build.CreateAdd(round, build.getInt32(1));
  llvm::Value* due = build.CreateICmpEQ(build.CreateAnd(next, period - 1), build.getInt32(0));
  llvm::MDNode* unlikely = llvm::MDBuilder(context).createBranchWeights(1, period);
  build.CreateCondBr(due, poll, rest, unlikely);
  for (llvm::BasicBlock* predecessor : llvm::predecessors(header)) {
    round->addIncoming(predecessor == rest ? next : build.getInt32(0), predecessor);
  }

  build.SetInsertPoint(poll);
  auto callee = function.getParent()->getOrInsertFunction(kCancelPollName, build.getInt1Ty());
  auto* asked = build.CreateCall(callee);
  asked->addRetAttr(llvm::Attribute::ZExt);
  asked->setDoesNotThrow();
  build.CreateCondBr(asked, cancelled, rest, unlikely);
}

}  // namespace

llvm::PreservedAnalyses CancelPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  if (loops.empty()) return llvm::PreservedAnalyses::all();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  llvm::SmallVector<llvm::Loop*, 8> unbounded;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(loop))) unbounded.push_back(loop);
  }
  if (unbounded.empty()) return llvm::PreservedAnalyses::all();

  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  llvm::SmallVector<std::tuple<llvm::BasicBlock*, llvm::BasicBlock*, uint32_t>, 8> places;
  for (llvm::Loop* loop : unbounded) {
    llvm::simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr, /*PreserveLCSSA=*/false);
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    for (llvm::BasicBlock* latch : latches) {
      places.emplace_back(loop->getHeader(), latch, has_long_rounds(*loop) ? 16 : 4096);
    }
  }
  llvm::BasicBlock* cancelled = make_return(function);
  for (const auto& [header, latch, period] : places) add_poll(header, latch, period, cancelled);
  function.setMemoryEffects(llvm::MemoryEffects::unknown());
  return llvm::PreservedAnalyses::none();
}

}  // namespace iruka::cpu_backend
