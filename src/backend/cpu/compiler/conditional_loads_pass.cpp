#include "backend/cpu/compiler/conditional_loads_pass.h"

#include <utility>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace iruka::cpu_backend {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;
using llvm::Value;

/// A loop that is written twice is short, so that the code does not grow much.
constexpr size_t kMostInstructions = 100;
constexpr size_t kMostLoads = 12;
/// Bytes and rounds: their product does not wrap.
constexpr uint64_t kMostStep = uint64_t{1} << 20, kMostRounds = uint64_t{1} << 40;

/// A load that only some rounds execute.
struct ConditionalLoad {
  llvm::LoadInst* load = nullptr;
  BasicBlock* always = nullptr;                        ///< the nearest block before it that every round executes
  const llvm::SCEV *first = nullptr, *last = nullptr;  ///< bytes from the array's beginning in the first and last round
  Value* array_bytes = nullptr;
};

class LoopWithConditionalLoads {
 public:
  LoopWithConditionalLoads(Loop& loop, const ArrayBytes& bytes, llvm::LoopInfo& loops, llvm::DominatorTree& dominators,
                           llvm::ScalarEvolution& evolution)
      : loop_(loop), bytes_(bytes), loops_(loops), dominators_(dominators), evolution_(evolution) {}

  /// Whether the loop can be changed, and would then have no conditional access to memory.
  bool find() {
    if (!loop_.isInnermost() || !loop_.isLoopSimplifyForm() || !loop_.isSafeToClone()) return false;
    if (!loop_.getExitingBlock() || !loop_.getUniqueExitBlock()) return false;
    rounds_ = evolution_.getBackedgeTakenCount(&loop_);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(rounds_) || evolution_.getTypeSizeInBits(rounds_->getType()) > 64)
      return false;
    size_t count = 0;
    for (BasicBlock* block : loop_.blocks()) {
      const bool is_conditional = !dominators_.dominates(block, loop_.getLoopLatch());
      for (Instruction& instruction : *block) {
        if (++count > kMostInstructions) return false;
        if (is_conditional && !visit(instruction)) return false;
      }
    }
    return !loads_.empty() && loads_.size() <= kMostLoads;
  }

  void change() {
    BasicBlock* const before = loop_.getLoopPreheader();
    Value* const is_inside = write_test(*before->getTerminator());
    write_twice(*before, is_inside);
    for (const ConditionalLoad& conditional : loads_) hoist(*conditional.load, *conditional.always);
  }

 private:
  bool visit(Instruction& instruction) {
    if (llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator()) return true;
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load) return llvm::isSafeToSpeculativelyExecute(&instruction);
    ConditionalLoad conditional{.load = load};
    if (!load->isSimple() || !describe(conditional) || !can_hoist(*load->getPointerOperand(), *conditional.always, 0))
      return false;
    loads_.push_back(conditional);
    return true;
  }

  bool describe(ConditionalLoad& conditional) {
    auto* node = dominators_.getNode(conditional.load->getParent());
    while (!dominators_.dominates(node->getBlock(), loop_.getLoopLatch())) node = node->getIDom();
    conditional.always = node->getBlock();
    const llvm::SCEV* const address = evolution_.getSCEV(conditional.load->getPointerOperand());
    const auto* base = llvm::dyn_cast<llvm::SCEVUnknown>(evolution_.getPointerBase(address));
    if (!base) return false;
    const auto array = bytes_.find(base->getValue());
    if (array == bytes_.end()) return false;
    const llvm::SCEV* const place = evolution_.getMinusSCEV(address, base);
    conditional.array_bytes = array->second;
    conditional.first = conditional.last = place;
    if (evolution_.isLoopInvariant(place, &loop_)) return true;
    const auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place);
    if (!walk || walk->getLoop() != &loop_ || !walk->isAffine()) return false;
    const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(evolution_));
    if (!step || step->getAPInt().abs().ugt(kMostStep)) return false;
    conditional.first = walk->getStart();
    conditional.last = walk->evaluateAtIteration(evolution_.getNoopOrZeroExtend(rounds_, walk->getType()), evolution_);
    return true;
  }

  /// Whether what an address is computed from can be computed in `to` as well.
  bool can_hoist(const Value& value, const BasicBlock& to, int depth) const {
    constexpr int kDeepest = 12;
    const auto* instruction = llvm::dyn_cast<Instruction>(&value);
    if (!instruction || dominators_.dominates(instruction->getParent(), &to)) return true;
    if (depth == kDeepest || llvm::isa<llvm::PHINode>(instruction) || instruction->mayReadOrWriteMemory() ||
        !llvm::isSafeToSpeculativelyExecute(instruction))
      return false;
    return llvm::all_of(instruction->operands(),
                        [&](const llvm::Use& operand) { return can_hoist(*operand, to, depth + 1); });
  }

  void hoist(Instruction& instruction, BasicBlock& to) {
    if (dominators_.dominates(instruction.getParent(), &to)) return;
    for (llvm::Use& operand : instruction.operands()) {
      if (auto* other = llvm::dyn_cast<Instruction>(operand.get())) hoist(*other, to);
    }
    // What a comparison before it promised does not hold in every round.
    instruction.dropPoisonGeneratingAnnotations();
    instruction.dropUBImplyingAttrsAndUnknownMetadata(
        {llvm::LLVMContext::MD_access_group, llvm::LLVMContext::MD_alias_scope, llvm::LLVMContext::MD_noalias,
         llvm::LLVMContext::MD_tbaa, llvm::LLVMContext::MD_invariant_load});
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) load->setAlignment(llvm::Align(1));
    instruction.moveBefore(to.getTerminator()->getIterator());
  }

  /// Whether all addresses lie inside their arrays, and no number of rounds is so large that a sum may wrap.
  Value* write_test(Instruction& place) {
    llvm::SCEVExpander expander(evolution_, "conditional");
    llvm::IRBuilder<> build(&place);
    const auto written = [&](const llvm::SCEV* number) {
      return build.CreateFreeze(expander.expandCodeFor(number, number->getType(), place.getIterator()));
    };
    Value* const rounds = written(rounds_);
    const unsigned bits = rounds->getType()->getIntegerBitWidth();
    Value* result = bits <= 32 ? build.getTrue()
                               : build.CreateICmpULT(rounds, llvm::ConstantInt::get(rounds->getType(), kMostRounds));
    for (const ConditionalLoad& conditional : loads_) {
      const llvm::DataLayout& layout = place.getDataLayout();
      const uint64_t size = layout.getTypeStoreSize(conditional.load->getType()).getFixedValue();
      Value* const end =
          build.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, conditional.array_bytes, build.getInt64(size - 1));
      for (const llvm::SCEV* offset : {conditional.first, conditional.last})
        result = build.CreateAnd(result, build.CreateICmpULT(written(offset), end));
    }
    return result;
  }

  /// Writes the loop a second time, for addresses that do not all lie inside.
  void write_twice(BasicBlock& before, Value* is_inside) {
    llvm::formLCSSARecursively(loop_, dominators_, &loops_, &evolution_);
    BasicBlock* const exit = loop_.getUniqueExitBlock();
    BasicBlock* const preheader =
        llvm::SplitBlock(&before, before.getTerminator(), &dominators_, &loops_, nullptr, "inside");
    llvm::ValueToValueMapTy values;
    llvm::SmallVector<BasicBlock*, 8> blocks;
    Loop* const other =
        llvm::cloneLoopWithPreheader(preheader, &before, &loop_, values, ".apart", &loops_, &dominators_, blocks);
    llvm::remapInstructionsInBlocks(blocks, values);
    llvm::IRBuilder<> build(before.getTerminator());
    build.CreateCondBr(is_inside, preheader, other->getLoopPreheader());
    before.getTerminator()->eraseFromParent();
    dominators_.changeImmediateDominator(exit, &before);
    BasicBlock* const exiting = loop_.getExitingBlock();
    for (llvm::PHINode& phi : exit->phis()) {
      Value* const value = phi.getIncomingValueForBlock(exiting);
      const auto copy = values.find(value);
      phi.addIncoming(copy == values.end() ? value : static_cast<Value*>(copy->second),
                      llvm::cast<BasicBlock>(values[exiting]));
    }
    llvm::formDedicatedExitBlocks(&loop_, &dominators_, &loops_, nullptr, /*PreserveLCSSA=*/true);
    llvm::formDedicatedExitBlocks(other, &dominators_, &loops_, nullptr, /*PreserveLCSSA=*/true);
  }

  Loop& loop_;
  const ArrayBytes& bytes_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  llvm::ScalarEvolution& evolution_;
  const llvm::SCEV* rounds_ = nullptr;
  std::vector<ConditionalLoad> loads_;
};

}  // namespace

ArrayBytes find_array_bytes(llvm::Function& function) {
  ArrayBytes bytes;
  for (Instruction& instruction : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && call->getCalledFunction() && call->getCalledFunction()->getName() == kArrayBytesName)
      bytes.try_emplace(call->getArgOperand(0), call->getArgOperand(1));
  }
  return bytes;
}

llvm::PreservedAnalyses ConditionalLoadsPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const ArrayBytes bytes = find_array_bytes(function);
  if (bytes.empty()) return llvm::PreservedAnalyses::all();
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  bool is_changed = false;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    LoopWithConditionalLoads candidate(*loop, bytes, loops, dominators, evolution);
    if (!candidate.find()) continue;
    candidate.change();
    evolution.forgetAllLoops();
    is_changed = true;
  }
  return is_changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

void erase_array_bytes(llvm::Module& module) {
  llvm::Function* const marker = module.getFunction(kArrayBytesName);
  if (!marker) return;
  for (llvm::User* user : llvm::make_early_inc_range(marker->users())) llvm::cast<Instruction>(user)->eraseFromParent();
  marker->eraseFromParent();
}

}  // namespace iruka::cpu_backend
