#include "backend/cpu/compiler/hoist_pass.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend {
namespace {

bool is_division(const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::SDiv:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SRem:
    case llvm::Instruction::URem: return true;
    default: return false;
  }
}

/// Moves `value` and its operands in front of the loop and returns the moved value; null if they read memory or change
/// in the loop. A division is guarded again, because its guard may have been removed under a condition that does not
/// hold there.
llvm::Value* hoist(llvm::Value* value, const llvm::Loop& loop, unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || !loop.contains(instruction)) return value;
  const bool is_pure = is_division(*instruction) || llvm::isSafeToSpeculativelyExecute(instruction);
  const bool is_plain = !llvm::isa<llvm::PHINode>(instruction) && !instruction->mayReadFromMemory();
  if (depth > kDeepest || !is_pure || !is_plain) return nullptr;
  for (llvm::Use& operand : instruction->operands()) {
    llvm::Value* outside = hoist(operand, loop, depth + 1);
    if (!outside) return nullptr;
    operand.set(outside);
  }
  llvm::Instruction* place = loop.getLoopPreheader()->getTerminator();
  if (!is_division(*instruction)) {
    instruction->moveBefore(place->getIterator());
    instruction->dropPoisonGeneratingAnnotations();
    return instruction;
  }
  llvm::IRBuilder<> build(place);
  llvm::Value* result =
      guarded_division(build, instruction->getOpcode(), build.CreateFreeze(instruction->getOperand(0)),
                       build.CreateFreeze(instruction->getOperand(1)));
  instruction->replaceAllUsesWith(result);
  return result;
}

}  // namespace

llvm::PreservedAnalyses HoistPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  bool changed = false;
  const auto loops = analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder();
  for (llvm::Loop* loop : llvm::reverse(loops)) {
    if (!loop->getLoopPreheader()) continue;
    llvm::SmallVector<llvm::Instruction*, 8> divisions;
    for (llvm::BasicBlock* block : loop->blocks()) {
      for (llvm::Instruction& instruction : *block) {
        if (is_division(instruction)) divisions.push_back(&instruction);
      }
    }
    for (llvm::Instruction* division : divisions) {
      const bool is_moved = hoist(division, *loop) != nullptr;
      changed |= is_moved;
      if (is_moved && division->use_empty()) division->eraseFromParent();
    }
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace iruka::cpu_backend
