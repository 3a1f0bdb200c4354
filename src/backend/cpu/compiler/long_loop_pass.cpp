#include "backend/cpu/compiler/long_loop_pass.h"

#include <optional>

#include "backend/cpu/compiler/cancel_poll.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace iruka::cpu_backend {
namespace {

using llvm::Loop;
using llvm::Value;

/// A loop that goes on while `goes_on` holds between `counter`, which grows by `step` a round, and `end`.
struct LongLoop {
  llvm::BasicBlock *before, *header, *latch, *after;
  llvm::CmpInst::Predicate goes_on;
  Value *first, *counter, *end;  ///< `first`: the counter at the first test
  int64_t step;

  bool is_equality() const { return goes_on == llvm::CmpInst::ICMP_NE; }
};

/// The parts of a loop, if it has the form that can be cut.
class Finder {
 public:
  explicit Finder(llvm::ScalarEvolution& evolution) : evolution_(evolution), expander_(evolution, "strip", false) {}

  std::optional<LongLoop> find(const Loop& loop) {
    LongLoop found{};
    found.before = loop.getLoopPreheader(), found.header = loop.getHeader(), found.latch = loop.getLoopLatch();
    if (!found.before || !found.latch) return {};
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(found.latch->getTerminator());
    if (!branch || !branch->isConditional()) return {};
    const auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (!test || !test->getOperand(0)->getType()->isIntegerTy()) return {};
    const bool goes_on_if_true = branch->getSuccessor(0) == found.header;
    found.after = branch->getSuccessor(goes_on_if_true);
    if (found.after == found.header || loop.contains(found.after)) return {};
    found.goes_on = goes_on_if_true ? test->getPredicate() : test->getInversePredicate();
    found.counter = test->getOperand(0), found.end = test->getOperand(1);
    if (!loop.isLoopInvariant(found.end)) {
      std::swap(found.counter, found.end);
      found.goes_on = llvm::CmpInst::getSwappedPredicate(found.goes_on);
    }
    return loop.isLoopInvariant(found.end) && settle(loop, found) ? std::optional(found) : std::nullopt;
  }

 private:
  bool settle(const Loop& loop, LongLoop& found) {
    const unsigned bits = found.counter->getType()->getIntegerBitWidth();
    if (bits < 32 || bits > 64) return false;
    const auto* counter = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(found.counter));
    if (!counter || counter->getLoop() != &loop || !counter->isAffine()) return false;
    const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(counter->getStepRecurrence(evolution_));
    if (!step) return false;
    constexpr int64_t kMostStep = 1 << 12;
    found.step = step->getAPInt().getSExtValue();
    const bool grows = found.step > 0 && found.step <= kMostStep, shrinks = found.step < 0 && found.step >= -kMostStep;
    using Compare = llvm::CmpInst;
    const bool fits = found.goes_on == Compare::ICMP_NE                                          ? grows || shrinks
                      : found.goes_on == Compare::ICMP_ULT || found.goes_on == Compare::ICMP_SLT ? grows
                      : found.goes_on == Compare::ICMP_UGT || found.goes_on == Compare::ICMP_SGT ? shrinks
                                                                                                 : false;
    llvm::Instruction* place = found.before->getTerminator();
    if (!fits || !expander_.isSafeToExpandAt(counter->getStart(), place)) return false;
    found.first = expander_.expandCodeFor(counter->getStart(), found.counter->getType(), place);
    return true;
  }

  llvm::ScalarEvolution& evolution_;
  llvm::SCEVExpander expander_;
};

class Cutter {
 public:
  explicit Cutter(llvm::Function& function) : function_(function), cancelled_(make_return(function)) {}

  void cut(const LongLoop& loop) {
    auto* check = llvm::BasicBlock::Create(function_.getContext(), "strip", &function_, loop.after);
    auto* ask = llvm::BasicBlock::Create(function_.getContext(), "poll", &function_, loop.after);
    llvm::IRBuilder<> build(loop.before->getTerminator());
    Value* first = next_end(build, loop, loop.first);
    // The first test ends the loop.
    if (!loop.is_equality())
      first = build.CreateSelect(build.CreateICmp(loop.goes_on, loop.first, loop.end), first, loop.end);

    build.SetInsertPoint(loop.header, loop.header->begin());
    llvm::PHINode* end = build.CreatePHI(loop.end->getType(), 3, "strip.end");
    llvm::Instruction* old = loop.latch->getTerminator();
    build.SetInsertPoint(old);
    build.CreateCondBr(build.CreateICmp(loop.goes_on, loop.counter, end), loop.header, check);
    old->eraseFromParent();

    llvm::MDNode* unlikely = llvm::MDBuilder(function_.getContext()).createBranchWeights(1, kPollRounds);
    build.SetInsertPoint(check);
    build.CreateCondBr(build.CreateICmp(loop.goes_on, loop.counter, loop.end), ask, loop.after);
    build.SetInsertPoint(ask);
    Value* next = next_end(build, loop, loop.counter);
    build.CreateCondBr(ask_whether_to_stop(build, function_), cancelled_, loop.header, unlikely);

    for (llvm::PHINode& phi : loop.after->phis()) phi.replaceIncomingBlockWith(loop.latch, check);
    for (llvm::PHINode& phi : loop.header->phis())
      if (&phi != end) phi.addIncoming(phi.getIncomingValueForBlock(loop.latch), ask);
    end->addIncoming(first, loop.before);
    end->addIncoming(end, loop.latch);
    end->addIncoming(next, ask);
  }

 private:
  /// The end of the strip that starts at `from`, or the loop's end if that is nearer. The arithmetic wraps around, so
  /// that distances are right for both signs.
  Value* next_end(llvm::IRBuilder<>& build, const LongLoop& loop, Value* from) {
    auto* type = llvm::cast<llvm::IntegerType>(loop.end->getType());
    const int64_t length = loop.step * static_cast<int64_t>(kPollRounds);
    Value* distance = loop.step > 0 ? build.CreateSub(loop.end, from) : build.CreateSub(from, loop.end);
    Value* is_last =
        build.CreateICmpULE(distance, llvm::ConstantInt::get(type, static_cast<uint64_t>(std::abs(length))));
    return build.CreateSelect(is_last, loop.end, build.CreateAdd(from, llvm::ConstantInt::getSigned(type, length)));
  }

  llvm::Function& function_;
  llvm::BasicBlock* cancelled_;
};

}  // namespace

llvm::PreservedAnalyses LongLoopPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::SmallVector<Loop*, 8> marked;
  for (Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && llvm::findOptionMDForLoop(loop, kLongLoopMetadata)) marked.push_back(loop);
  if (marked.empty()) return llvm::PreservedAnalyses::all();

  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  Finder finder(evolution);
  llvm::SmallVector<LongLoop, 8> found;
  for (Loop* loop : marked) {
    llvm::simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr, /*PreserveLCSSA=*/false);
    if (const auto parts = finder.find(*loop)) found.push_back(*parts);
  }
  if (!found.empty()) {
    Cutter cutter(function);
    for (const LongLoop& loop : found) cutter.cut(loop);
    function.setMemoryEffects(llvm::MemoryEffects::unknown());
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace iruka::cpu_backend
