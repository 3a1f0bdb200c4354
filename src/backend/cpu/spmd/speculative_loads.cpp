#include "backend/cpu/spmd/speculative_loads.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/cpu/compiler/conditional_loads_pass.h"
#include "backend/cpu/spmd/lane_loop.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace iruka::cpu_backend::spmd {
namespace {

class Speculation {
 public:
  Speculation(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : layout_(function.getDataLayout()),
        loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        updater_(analyses.getResult<llvm::DominatorTreeAnalysis>(function),
                 llvm::DomTreeUpdater::UpdateStrategy::Eager),
        sizes_(find_array_bytes(function)) {
    if (!sizes_.empty()) find(function, analyses.getResult<llvm::MemorySSAAnalysis>(function).getMSSA());
  }

  /// Whether the function has changed.
  bool run() {
    for (const auto& [load, loop] : found_) {
      llvm::Value*& made = made_[{loop, load->getPointerOperand(), load->getType()}];
      if (!made) made = load_before(*loop, *load);
      load->replaceAllUsesWith(made);
      load->eraseFromParent();
    }
    return !found_.empty();
  }

 private:
  /// Each load and the outermost loop that it may leave.
  void find(llvm::Function& function, llvm::MemorySSA& memory) {
    const MarkedLoops marked = find_marked_loops(function, loops_);
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        if (!load || !load->isSimple() || load->getType()->isAggregateType() || !sizes_.contains(base_of(*load)))
          continue;
        llvm::Loop* outermost = nullptr;
        for (llvm::Loop* loop = loops_.getLoopFor(&block); loop && !marked.around.contains(loop);
             loop = loop->getParentLoop()) {
          if (loop->getLoopPreheader() && may_leave(*load, *loop, memory)) outermost = loop;
        }
        if (outermost) found_.push_back({load, outermost});
      }
    }
  }

  static bool may_leave(const llvm::LoadInst& load, const llvm::Loop& loop, llvm::MemorySSA& memory) {
    if (!loop.isLoopInvariant(load.getPointerOperand())) return false;
    const llvm::MemoryAccess* const writer = memory.getWalker()->getClobberingMemoryAccess(&load);
    return memory.isLiveOnEntryDef(writer) || !loop.contains(writer->getBlock());
  }

  static const llvm::Value* base_of(const llvm::LoadInst& load) {
    const llvm::Value* pointer = load.getPointerOperand();
    while (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer)) pointer = step->getPointerOperand();
    return pointer;
  }

  /// Loads where the address is inside the array, else gives 0. What the loop's own tests promise of the address does
  /// not hold for every lane here, so that one number without promises is compared and read from.
  llvm::Value* load_before(const llvm::Loop& loop, llvm::LoadInst& load) {
    llvm::Instruction* const place = loop.getLoopPreheader()->getTerminator();
    llvm::IRBuilder<> build(place);
    build.SetCurrentDebugLocation(load.getDebugLoc());
    llvm::Value* const base = const_cast<llvm::Value*>(base_of(load));
    llvm::Value* const size = sizes_.find(base)->second;
    llvm::Value* offset = llvm::ConstantInt::get(size->getType(), 0);
    llvm::Value* pointer = load.getPointerOperand();
    while (auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      offset = build.CreateAdd(offset, llvm::emitGEPOffset(&build, layout_, step, /*NoAssumptions=*/true));
      pointer = step->getPointerOperand();
    }
    offset = build.CreateFreeze(offset);
    const uint64_t bytes = layout_.getTypeStoreSize(load.getType()).getFixedValue();
    llvm::Value* const end = build.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size,
                                                         llvm::ConstantInt::get(size->getType(), bytes - 1));
    llvm::Value* const address = build.CreatePtrAdd(base, offset);
    llvm::Instruction* const inside =
        llvm::SplitBlockAndInsertIfThen(build.CreateICmpULT(offset, end), place->getIterator(),
                                        /*Unreachable=*/false, nullptr, &updater_, &loops_);
    build.SetInsertPoint(inside);
    llvm::LoadInst* const made = build.CreateAlignedLoad(load.getType(), address, llvm::Align(1));
    build.SetInsertPoint(place->getParent(), place->getParent()->begin());
    llvm::PHINode* const result = build.CreatePHI(load.getType(), 2, "speculative");
    result->addIncoming(made, made->getParent());
    result->addIncoming(llvm::Constant::getNullValue(load.getType()), made->getParent()->getSinglePredecessor());
    return result;
  }

  const llvm::DataLayout& layout_;
  llvm::LoopInfo& loops_;
  llvm::DomTreeUpdater updater_;
  const ArrayBytes sizes_;
  std::vector<std::pair<llvm::LoadInst*, llvm::Loop*>> found_;
  std::map<std::tuple<llvm::Loop*, llvm::Value*, llvm::Type*>, llvm::Value*> made_;
};

}  // namespace

void speculate_invariant_loads(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (Speculation(function, analyses).run()) analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

}  // namespace iruka::cpu_backend::spmd
