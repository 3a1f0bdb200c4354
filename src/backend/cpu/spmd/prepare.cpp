#include "backend/cpu/spmd/prepare.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "backend/cpu/spmd/computed_places.h"
#include "backend/cpu/spmd/constant_arrays.h"
#include "backend/cpu/spmd/element_steps.h"
#include "backend/cpu/spmd/lane_loop.h"
#include "backend/cpu/spmd/merged_locals.h"
#include "backend/cpu/spmd/private_memory.h"
#include "backend/cpu/spmd/short_loops.h"
#include "backend/cpu/spmd/speculative_loads.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/MemorySSAUpdater.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"

namespace iruka::cpu_backend::spmd {

namespace {

bool has_padding(llvm::Type* type, const llvm::DataLayout& layout) {
  if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) return has_padding(array->getElementType(), layout);
  const auto* structure = llvm::dyn_cast<llvm::StructType>(type);
  if (!structure) return layout.getTypeStoreSize(type) != layout.getTypeAllocSize(type);
  uint64_t bytes = 0;
  for (llvm::Type* member : structure->elements()) {
    if (has_padding(member, layout)) return true;
    bytes += layout.getTypeAllocSize(member).getFixedValue();
  }
  return bytes != layout.getTypeAllocSize(type).getFixedValue();
}

/// Begins the lifetime of a thread's locals that have none, such as temporaries of calls. Otherwise what is not always
/// written, such as the padding of structures, would seem to carry the value of the last thread.
void begin_lifetimes_of_threads(llvm::Function& function, llvm::DominatorTree& dominators) {
  llvm::CallInst* marker = nullptr;
  for (llvm::CallInst* call : find_markers(function))
    if (llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue() & kThreadsFlag) marker = call;
  if (!marker) return;
  llvm::IRBuilder<> build(marker->getNextNode());
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!local || local->isArrayAllocation() || local->use_empty()) continue;
    const bool is_own = llvm::all_of(local->users(), [&](const llvm::User* user) {
      const auto* use = llvm::dyn_cast<llvm::Instruction>(user);
      return use && !use->isLifetimeStartOrEnd() && dominators.dominates(marker, use);
    });
    if (is_own) build.CreateLifetimeStart(local);
  }
}

/// Tells LLVM between which numbers the results of divisions lie, which it cannot know of calls: an index of 64 bits
/// that is a quotient or a remainder of the element's number then needs no mask when it was an `int` for a while.
void add_ranges_of_divisions(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const auto opcode = call ? division_opcode(*call) : std::nullopt;
    if (!opcode || !call->getType()->isIntegerTy()) continue;
    const llvm::Value* const dividend = call->getArgOperand(0);
    const llvm::KnownBits known =
        llvm::computeKnownBits(dividend, function.getDataLayout(), &assumptions, call, &dominators);
    if (!known.isNonNegative()) continue;
    const llvm::ConstantRange range = llvm::computeConstantRange(dividend, /*ForSigned=*/false, /*UseInstrInfo=*/true,
                                                                 &assumptions, call, &dominators);
    const bool is_remainder = *opcode == llvm::Instruction::SRem || *opcode == llvm::Instruction::URem;
    llvm::APInt most = llvm::APIntOps::umin(known.getMaxValue(), range.getUnsignedMax());
    llvm::APInt least = llvm::APInt::getZero(most.getBitWidth());
    const auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(1));
    if (divisor && divisor->getValue().isStrictlyPositive())
      most = is_remainder ? llvm::APIntOps::umin(most, divisor->getValue() - 1) : most.udiv(divisor->getValue());
    else if (*opcode == llvm::Instruction::SDiv)
      least = -most;
    call->addRangeRetAttr(llvm::ConstantRange::getNonEmpty(least, most + 1));
  }
}

/// Hoists invariants out of the loops inside the body, because LLVM could not hoist a load that the widener has put
/// behind a branch. Nothing leaves the loop over the elements or the loops around it.
void hoist_invariants(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  const MarkedLoops marked = find_marked_loops(function, loops);
  llvm::SmallVector<llvm::Loop*, 8> all = loops.getLoopsInPreorder();
  llvm::erase_if(all,
                 [&](const llvm::Loop* loop) { return marked.around.contains(loop) || !loop->getLoopPreheader(); });
  if (all.empty()) return;
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& memory = analyses.getResult<llvm::MemorySSAAnalysis>(function).getMSSA();
  memory.ensureOptimizedUses();
  llvm::MemorySSAUpdater updater(&memory);
  llvm::OptimizationRemarkEmitter remarks(&function);
  for (llvm::Loop* loop : llvm::reverse(all)) {
    llvm::ICFLoopSafetyInfo safety;
    safety.computeLoopSafetyInfo(loop);
    llvm::SinkAndHoistLICMFlags limits(/*IsSink=*/false, *loop, memory);
    llvm::hoistRegion(dominators.getNode(loop->getHeader()), &analyses.getResult<llvm::AAManager>(function), &loops,
                      &dominators, &analyses.getResult<llvm::AssumptionAnalysis>(function),
                      &analyses.getResult<llvm::TargetLibraryAnalysis>(function), loop, updater,
                      &analyses.getResult<llvm::ScalarEvolutionAnalysis>(function), &safety, limits, &remarks,
                      /*LoopNestMode=*/false, /*AllowSpeculation=*/true);
  }
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

/// A hot function that must not be inlined, as kernel code of the library declares where what surrounds a loop would
/// take its registers.
bool keeps_registers_for_itself(const llvm::Function& function) {
  return function.hasFnAttribute(llvm::Attribute::NoInline) && function.hasFnAttribute(llvm::Attribute::Hot);
}

}  // namespace

void store_poison_at_lifetime_start(llvm::Function& function) {
  llvm::SmallVector<llvm::IntrinsicInst*, 16> starts;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call && call->getIntrinsicID() == llvm::Intrinsic::lifetime_start) starts.push_back(call);
  }
  for (llvm::IntrinsicInst* start : starts) {
    auto* local = llvm::dyn_cast<llvm::AllocaInst>(start->getArgOperand(start->arg_size() - 1));
    // A large local stays in memory and needs no such store.
    const bool may_be_registers =
        local && !local->isArrayAllocation() &&
        function.getDataLayout().getTypeAllocSize(local->getAllocatedType()).getFixedValue() <= 256;
    if (!may_be_registers) continue;
    llvm::IRBuilder<> build(start->getNextNode());
    llvm::Type* type = local->getAllocatedType();
    // A store of a structure leaves its padding as it is.
    if (has_padding(type, function.getDataLayout()))
      type = build.getIntNTy(static_cast<unsigned>(function.getDataLayout().getTypeAllocSizeInBits(type)));
    build.CreateStore(llvm::UndefValue::get(type), local);
  }
}

void inline_everything(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
  llvm::CallGraph graph(module);
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    if (component.hasCycle()) continue;
    for (llvm::CallGraphNode* node : *component) {
      llvm::Function* function = node->getFunction();
      if (!function || function->isDeclaration() || !function->hasLocalLinkage()) continue;
      if (keeps_registers_for_itself(*function)) continue;
      function->removeFnAttr(llvm::Attribute::NoInline);
      function->removeFnAttr(llvm::Attribute::OptimizeNone);
      function->addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
  llvm::AlwaysInlinerPass(/*InsertLifetime=*/true).run(module, analyses);
}

void simplify(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  begin_lifetimes_of_threads(function, analyses.getResult<llvm::DominatorTreeAnalysis>(function));
  store_poison_at_lifetime_start(function);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  analyses.invalidate(function, passes.run(function, analyses));
  add_ranges_of_divisions(function, analyses);
  mark_constant_loads(function);
  llvm::FunctionPassManager closing;
  closing.addPass(llvm::InstCombinePass());
  closing.addPass(llvm::SimplifyCFGPass());
  closing.addPass(llvm::LoopSimplifyPass());
  analyses.invalidate(function, closing.run(function, analyses));
}

void make_ready(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (expand_memory_intrinsics(function)) analyses.invalidate(function, llvm::PreservedAnalyses::none());
  if (merge_locals(function, analyses.getResult<llvm::DominatorTreeAnalysis>(function),
                   analyses.getResult<llvm::LoopAnalysis>(function)))
    analyses.invalidate(function, llvm::PreservedAnalyses::none());
  select_computed_places(function, analyses);
  store_poison_at_lifetime_start(function);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager passes;
  // Local arrays become registers once the loops over them are unrolled.
  passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(/*OptLevel=*/3, /*OnlyWhenForced=*/false)
                                          .setPartial(false)
                                          .setPeeling(false)
                                          .setRuntime(false)
                                          .setUpperBound(false)
                                          .setProfileBasedPeeling(0)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  // Divisions of small numbers become 32-bit ones.
  passes.addPass(llvm::CorrelatedValuePropagationPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::LowerSwitchPass());
  llvm::ScalarizerPassOptions scalarizer;
  scalarizer.ScalarizeLoadStore = true;
  passes.addPass(llvm::ScalarizerPass(scalarizer));
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::LoopSimplifyPass());
  const auto preserved = passes.run(function, analyses);
  analyses.invalidate(function, preserved);
  hoist_invariants(function, analyses);
  if (step_by_elements(function)) analyses.invalidate(function, llvm::PreservedAnalyses::none());
  speculate_invariant_loads(function, analyses);
  llvm::FunctionPassManager closing;
  closing.addPass(llvm::LCSSAPass());
  analyses.invalidate(function, closing.run(function, analyses));
}

}  // namespace iruka::cpu_backend::spmd
