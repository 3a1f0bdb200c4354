#include "backend/cpu/compiler/hoist_pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
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

/// Moves `instruction` in front of the loop with what it needs; false where that reads memory or changes by the round.
bool hoist(llvm::Instruction& instruction, const llvm::Loop& loop, unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  if (!loop.contains(&instruction)) return true;
  const bool is_pure = is_division(instruction) || llvm::isSafeToSpeculativelyExecute(&instruction);
  if (depth > kDeepest || !is_pure || llvm::isa<llvm::PHINode>(instruction) || instruction.mayReadFromMemory()) return false;
  for (llvm::Value* operand : instruction.operands()) {
    auto* definition = llvm::dyn_cast<llvm::Instruction>(operand);
    if (definition && !hoist(*definition, loop, depth + 1)) return false;
  }
  instruction.moveBefore(loop.getLoopPreheader()->getTerminator()->getIterator());
  instruction.dropPoisonGeneratingAnnotations();
  return true;
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
    for (llvm::Instruction* division : divisions) changed |= hoist(*division, *loop);
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace iruka::cpu_backend
