#include "backend/cpu/compiler/cancel_pass.h"

#include "backend/cpu/compiler/cancel_poll.h"
#include "backend/cpu/compiler/long_loop_pass.h"
#include "jit/emit.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace iruka::cpu_backend {
namespace {

using llvm::Loop;

/// The weight of a call in the count of rounds. Each call of a function of the text starts a count of its own.
constexpr uint64_t kMathCall = 16, kOwnCall = 4096;
/// The weight of a loop whose length cannot be computed in front of it.
constexpr uint64_t kUnknownLength = 256;

/// Groups the loops of a function by how they are made interruptible.
class LoopPlan {
 public:
  LoopPlan(llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution) : loops_(loops), evolution_(evolution) {
    for (Loop* loop : loops) {
      has_stages_ = loop->getHeader()->getParent()->getName() == jit::kStagesEntryName;
      visit(loop, /*user=*/!has_parallel_loop(*loop));
    }
  }

  llvm::SmallVector<Loop*, 8> polled;     ///< poll for cancellation
  llvm::SmallVector<Loop*, 8> counted;    ///< innermost loops inside, counted as a whole in front
  llvm::SmallVector<Loop*, 8> long_ones;  ///< innermost loops that LongLoopPass cuts after vectorisation

  /// The weight of one round of a polled loop, without inner loops that are counted separately.
  uint64_t round_weight(const Loop& loop) const {
    uint64_t weight = own_weight(loop);
    for (const Loop* inner : loop) {
      const uint64_t rounds = known_rounds(*inner);
      if (rounds <= kPollRounds) weight += rounds;
    }
    return weight;
  }

 private:
  // Loops around a loop that is marked parallel are the emitter's, as is the code beside it; the thread pool gives them
  // few rounds at a time. The user's loops are inside of it.
  void visit(Loop* loop, bool user) {
    // Of a kernel of stages, some loops over elements are widened, which leaves them without the mark.
    user |= is_parallel(*loop) || (has_stages_ && !has_parallel_loop(*loop));
    const bool poll = user && must_poll(*loop);
    if (poll) polled.push_back(loop);
    // The thread pool polls between the ranges of a parallel loop.
    const bool is_long = loop->isInnermost() && !is_parallel(*loop) && known_rounds(*loop) > kPollRounds;
    if (user && !poll && is_long) long_ones.push_back(loop);
    for (Loop* inner : *loop) {
      if (poll && inner->isInnermost() && !must_poll(*inner) && known_rounds(*inner) > kPollRounds)
        counted.push_back(inner);
      visit(inner, user);
    }
  }

  bool must_poll(const Loop& loop) const {
    if (is_unbounded(loop)) return true;
    if (known_rounds(loop) <= kPollRounds) return false;
    return !loop.isInnermost() || own_weight(loop) >= kOwnCall;
  }

  bool is_unbounded(const Loop& loop) const {
    return llvm::isa<llvm::SCEVCouldNotCompute>(evolution_.getBackedgeTakenCount(&loop));
  }

  /// Rounds of the loop and the loops in it, where constants bound them.
  uint64_t known_rounds(const Loop& loop) const {
    const unsigned most = evolution_.getSmallConstantMaxTripCount(&loop);
    if (most == 0 || is_unbounded(loop)) return UINT64_MAX;
    uint64_t round = own_weight(loop);
    for (const Loop* inner : loop) round = llvm::SaturatingAdd(round, known_rounds(*inner));
    return llvm::SaturatingMultiply<uint64_t>(most, round);
  }

  uint64_t own_weight(const Loop& loop) const {
    uint64_t weight = 1;
    for (const llvm::BasicBlock* block : loop.blocks()) {
      if (loops_.getLoopFor(block) != &loop) continue;
      for (const llvm::Instruction& instruction : *block) {
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (!call || llvm::isa<llvm::IntrinsicInst>(call)) continue;
        const llvm::Function* callee = call->getCalledFunction();
        weight += callee && callee->isDeclaration() ? kMathCall : kOwnCall;
      }
    }
    return weight;
  }

  static bool is_parallel(const Loop& loop) {
    return llvm::findOptionMDForLoop(&loop, "llvm.loop.parallel_accesses") ||
           llvm::findOptionMDForLoop(&loop, kLaneLoopMetadata);
  }
  static bool has_parallel_loop(const Loop& loop) {
    return llvm::any_of(loop, [](const Loop* inner) { return is_parallel(*inner) || has_parallel_loop(*inner); });
  }

  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  bool has_stages_ = false;  ///< whether the function runs the stages of a kernel
};

/// Counts down from kPollRounds in one local, which becomes a register, through all loops of a function.
class Polls {
 public:
  explicit Polls(llvm::Function& function) : function_(function), context_(function.getContext()) {
    llvm::BasicBlock& entry = function.getEntryBlock();
    llvm::IRBuilder<> build(&entry, entry.getFirstInsertionPt());
    counter_ = build.CreateAlloca(build.getInt64Ty());
    build.CreateStore(build.getInt64(kPollRounds), counter_);
    cancelled_ = make_return(function);
  }

  /// Subtracts `loop`'s length and `weight` from the count in front of the loop.
  void count(Loop& loop, llvm::ScalarEvolution& evolution, uint64_t weight) {
    llvm::BasicBlock* before = loop.getLoopPreheader();
    if (!before) return;
    const llvm::SCEV* length = evolution.getBackedgeTakenCount(&loop);
    llvm::Instruction* place = before->getTerminator();
    llvm::IRBuilder<> build(place);
    llvm::SCEVExpander expander(evolution, "rounds", /*PreserveLCSSA=*/false);
    llvm::Value* rounds = build.getInt64(kUnknownLength);
    if (evolution.getTypeSizeInBits(length->getType()) <= 64 && expander.isSafeToExpandAt(length, place)) {
      rounds = expander.expandCodeFor(length, length->getType(), place);
      rounds = build.CreateZExt(build.CreateFreeze(rounds), build.getInt64Ty());
    }
    take(build, build.CreateAdd(rounds, build.getInt64(weight)));
  }

  /// Polls in the latch of `loop` when the count reaches zero; the poll is on a cold path.
  void poll(Loop& loop, uint64_t weight) {
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop.getLoopLatches(latches);
    for (llvm::BasicBlock* latch : latches) poll_in(latch, weight);
  }

  void finish() {
    llvm::DominatorTree dominators(function_);
    llvm::PromoteMemToReg({counter_}, dominators);
    function_.setMemoryEffects(llvm::MemoryEffects::unknown());
  }

 private:
  llvm::Value* take(llvm::IRBuilder<>& build, llvm::Value* rounds) {
    llvm::Value* left = build.CreateSub(build.CreateLoad(build.getInt64Ty(), counter_), rounds);
    build.CreateStore(left, counter_);
    return left;
  }

  void poll_in(llvm::BasicBlock* latch, uint64_t weight) {
    llvm::BasicBlock* rest = llvm::SplitBlock(latch, latch->getTerminator()->getIterator());
    latch->getTerminator()->eraseFromParent();
    auto* ask = llvm::BasicBlock::Create(context_, "poll", &function_, rest);
    llvm::IRBuilder<> build(latch);
    llvm::Value* left =
        weight > 0 ? take(build, build.getInt64(weight)) : build.CreateLoad(build.getInt64Ty(), counter_);
    llvm::MDNode* unlikely = llvm::MDBuilder(context_).createBranchWeights(1, kPollRounds);
    build.CreateCondBr(build.CreateICmpSLT(left, build.getInt64(0)), ask, rest, unlikely);

    build.SetInsertPoint(ask);
    llvm::Value* asked = ask_whether_to_stop(build, function_);
    build.CreateStore(build.getInt64(kPollRounds), counter_);
    build.CreateCondBr(asked, cancelled_, rest, unlikely);
  }

  llvm::Function& function_;
  llvm::LLVMContext& context_;
  llvm::AllocaInst* counter_;
  llvm::BasicBlock* cancelled_;
};

}  // namespace

llvm::PreservedAnalyses CancelPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  if (loops.empty()) return llvm::PreservedAnalyses::all();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const LoopPlan before(loops, evolution);
  for (Loop* loop : before.long_ones) llvm::addStringMetadataToLoop(loop, kLongLoopMetadata);
  if (before.polled.empty()) return llvm::PreservedAnalyses::all();

  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  const llvm::SmallVector<Loop*, 8> outermost(loops.begin(), loops.end());
  for (Loop* loop : outermost) {
    llvm::simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr, /*PreserveLCSSA=*/false);
  }
  const LoopPlan plan(loops, evolution);
  const auto runs_every_round = [&](const llvm::BasicBlock* block, const Loop& loop) {
    const llvm::BasicBlock* latch = loop.getLoopLatch();
    return block && latch && dominators.dominates(block, latch);
  };
  // A loop that polls in every round of the loop around it polls for that loop, too.
  llvm::MapVector<Loop*, uint64_t> weights;
  for (Loop* loop : plan.polled) {
    const bool done_inside = llvm::any_of(plan.polled, [&](Loop* inner) {
      return inner->getParentLoop() == loop && runs_every_round(inner->getLoopLatch(), *loop);
    });
    if (!done_inside) weights[loop] = plan.round_weight(*loop);
  }
  Polls polls(function);
  for (Loop* loop : plan.counted) {
    // One subtraction serves both loops where both run.
    Loop* around = loop->getParentLoop();
    const auto found = weights.find(around);
    uint64_t weight = 0;
    if (found != weights.end() && runs_every_round(loop->getLoopPreheader(), *around)) std::swap(weight, found->second);
    polls.count(*loop, evolution, weight);
  }
  for (const auto& [loop, weight] : weights) polls.poll(*loop, weight);
  polls.finish();
  return llvm::PreservedAnalyses::none();
}

}  // namespace iruka::cpu_backend
