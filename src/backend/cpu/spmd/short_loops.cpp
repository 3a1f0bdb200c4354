#include "backend/cpu/spmd/short_loops.h"

#include "backend/cpu/spmd/lane_loop.h"
#include "backend/cpu/spmd/prepare.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

namespace iruka::cpu_backend::spmd {
namespace {

// Straight code of this size compiles in some 20 ms. What is left of a larger loop takes little of its time.
constexpr size_t kMostInstructions = 1200;
constexpr size_t kMostBeforeSimplifying = 4000;
constexpr unsigned kMostRounds = 16;
// Rounds that walk through a local array make registers of it.
constexpr unsigned kMostRoundsOverLocals = 32;
// Of a loop that lanes leave after different rounds each round stays behind a test of its own.
constexpr size_t kMostInstructionsBehindTests = 400;
constexpr unsigned kMostRoundsBehindTests = 10;
constexpr int kDeepestNest = 8;

/// Whether an instruction reads or writes a local array that is so small that it may become registers.
bool accesses_local(const llvm::Instruction& instruction) {
  constexpr uint64_t kMostBytes = 256;
  const llvm::Value* const pointer = llvm::getLoadStorePointerOperand(&instruction);
  if (!pointer) return false;
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  return llvm::all_of(objects, [&](const llvm::Value* object) {
    const auto* local = llvm::dyn_cast<llvm::AllocaInst>(object);
    const auto bytes = local ? local->getAllocationSize(instruction.getDataLayout()) : std::nullopt;
    return bytes && bytes->getFixedValue() <= kMostBytes;
  });
}

struct LoopSize {
  size_t all = 0;   ///< instructions, without phis and jumps
  size_t left = 0;  ///< of a round of straight code: addresses become constants, and small local arrays registers
};

LoopSize size_of(const llvm::Loop& loop) {
  LoopSize size;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator()) continue;
      ++size.all;
      size.left += !llvm::isa<llvm::GetElementPtrInst>(instruction) && !accesses_local(instruction);
    }
  }
  return size;
}

bool has_local_array(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(),
                      [](const llvm::BasicBlock* block) { return llvm::any_of(*block, accesses_local); });
}

/// The most rounds of a loop that is to become straight code; 0: it stays a loop. It may leave before its last round.
unsigned rounds_of(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!loop.isInnermost() || !loop.isLoopSimplifyForm() || !loop.isSafeToClone()) return 0;
  if (llvm::hasUnrollTransformation(&loop) & llvm::TM_Disable) return 0;
  const unsigned rounds = evolution.getSmallConstantTripCount(&loop);
  const LoopSize size = size_of(loop);
  if (rounds != 0) {
    const unsigned limit = rounds > kMostRounds && has_local_array(loop) ? kMostRoundsOverLocals : kMostRounds;
    const bool is_small = rounds * size.left <= kMostInstructions && rounds * size.all <= kMostBeforeSimplifying;
    return rounds <= limit && is_small ? rounds : 0;
  }
  const unsigned most = evolution.getSmallConstantMaxTripCount(&loop);
  const bool is_small = most * size.left <= kMostInstructionsBehindTests && most * size.all <= kMostInstructions;
  return most <= kMostRoundsBehindTests && is_small ? most : 0;
}

bool unroll_innermost(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  llvm::OptimizationRemarkEmitter remarks(&function);
  const MarkedLoops marked = find_marked_loops(function, loops);
  bool is_changed = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const unsigned rounds = marked.around.contains(loop) ? 0 : rounds_of(*loop, evolution);
    if (rounds == 0) continue;
    llvm::formLCSSARecursively(*loop, dominators, &loops, &evolution);
    const auto done =
        llvm::UnrollLoop(loop, {.Count = rounds, .Force = true, .ForgetAllSCEV = false, .SCEVExpansionBudget = 0},
                         &loops, &evolution, &dominators, &analyses.getResult<llvm::AssumptionAnalysis>(function),
                         &analyses.getResult<llvm::TargetIRAnalysis>(function), &remarks, /*PreserveLCSSA=*/true);
    is_changed |= done != llvm::LoopUnrollResult::Unmodified;
  }
  return is_changed;
}

}  // namespace

void unroll_short_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  for (int depth = 0; depth < kDeepestNest && unroll_innermost(function, analyses); ++depth) {
    store_poison_at_lifetime_start(function);
    analyses.invalidate(function, llvm::PreservedAnalyses::none());
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::LoopSimplifyPass());
    analyses.invalidate(function, passes.run(function, analyses));
  }
}

}  // namespace iruka::cpu_backend::spmd
