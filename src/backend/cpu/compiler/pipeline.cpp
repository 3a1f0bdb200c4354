#include "backend/cpu/compiler/pipeline.h"

#include "backend/cpu/compiler/cancel_pass.h"
#include "backend/cpu/compiler/conditional_loads_pass.h"
#include "backend/cpu/compiler/hoist_pass.h"
#include "backend/cpu/compiler/host.h"
#include "backend/cpu/compiler/local_memory_pass.h"
#include "backend/cpu/compiler/long_loop_pass.h"
#include "backend/cpu/compiler/symbols.h"
#include "backend/cpu/compiler/vector_math.h"
#include "backend/cpu/spmd/wide_masks.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/VectorCombine.h"

namespace iruka::cpu_backend {
namespace {

llvm::OptimizationLevel optimization_level(int level) {
  switch (level) {
    case 0: return llvm::OptimizationLevel::O0;
    case 1: return llvm::OptimizationLevel::O1;
    case 2: return llvm::OptimizationLevel::O2;
    default: return llvm::OptimizationLevel::O3;
  }
}

template <class... Pass>
void add_loop_passes(llvm::FunctionPassManager& passes, bool use_memory_ssa, Pass... pass) {
  llvm::LoopPassManager loops;
  (loops.addPass(std::move(pass)), ...);
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), use_memory_ssa));
}

/// A short pipeline for widened code: compared with LLVM's own, the code is as fast and compiles in half the time.
llvm::FunctionPassManager first_lane_passes(bool fast_math) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  // All lanes start their loops together, so the first round needs no masks.
  passes.addPass(llvm::JumpThreadingPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  if (fast_math) passes.addPass(llvm::ReassociatePass());
  add_loop_passes(passes, /*use_memory_ssa=*/true, llvm::LICMPass(llvm::LICMOptions()), llvm::LoopRotatePass(),
                  llvm::LICMPass(llvm::LICMOptions()), llvm::SimpleLoopUnswitchPass(/*NonTrivial=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  add_loop_passes(passes, /*use_memory_ssa=*/false, llvm::IndVarSimplifyPass(), llvm::LoopDeletionPass(),
                  llvm::LoopFullUnrollPass(/*OptLevel=*/3));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::DSEPass());
  add_loop_passes(passes, /*use_memory_ssa=*/true, llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

/// Divides coroutines at their suspensions. What was optimised before stays in registers between two of them.
void add_coroutine_passes(llvm::ModulePassManager& passes) {
  passes.addPass(llvm::CoroEarlyPass());
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(llvm::CoroSplitPass()));
  passes.addPass(llvm::CoroCleanupPass());
  llvm::FunctionPassManager cleanup;
  cleanup.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  cleanup.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  cleanup.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(cleanup)));
}

llvm::FunctionPassManager last_lane_passes() {
  llvm::FunctionPassManager passes;
  passes.addPass(HoistPass());
  passes.addPass(CancelPass());
  passes.addPass(llvm::VectorCombinePass());
  passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(/*OptLevel=*/3)));
  passes.addPass(LongLoopPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass(
      llvm::SimplifyCFGOptions().convertSwitchRangeToICmp(true).hoistCommonInsts(true).sinkCommonInsts(true)));
  if (!host().has_mask_registers()) passes.addPass(spmd::WideMaskPass(host().vector_bytes));
  return passes;
}

}  // namespace

const llvm::TargetLibraryInfoImpl& library_info() {
  static const auto& info = *[] {
    auto* library = new llvm::TargetLibraryInfoImpl(llvm::Triple(host().triple));
    restrict_library(*library);
    add_vector_math(*library);
    return library;
  }();
  return info;
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, const jit::CompileOptions& options,
              const WidenedCode& code, const ProgramSource& source) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = options.optimization_level >= 2 && !code.is_widened;
  // A body is one hot loop, so that inlining helpers pays up to a high limit.
  tuning.InlinerThreshold = 2000;
  // Passes get no file system, because there are no profiles to read and LLVM's real file system is shared by all
  // threads.
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([&](llvm::StringRef, llvm::Any) { return !source.is_cancelled(); });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks, /*FS=*/nullptr);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  functions.registerPass([] { return llvm::TargetLibraryAnalysis(library_info()); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  builder.registerVectorizerStartEPCallback([](llvm::FunctionPassManager& passes, llvm::OptimizationLevel level) {
    if (level.getSpeedupLevel() >= 2) passes.addPass(ConditionalLoadsPass());
    passes.addPass(HoistPass());
    passes.addPass(CancelPass());
    passes.addPass(LocalMemoryPass());
  });
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(LongLoopPass()));
      });
  if (!host().has_mask_registers()) {
    builder.registerOptimizerLastEPCallback(
        [](llvm::ModulePassManager& passes, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
          passes.addPass(llvm::createModuleToFunctionPassAdaptor(spmd::WideMaskPass(host().vector_bytes)));
        });
  }
  const auto level = optimization_level(options.optimization_level);
  if (code.is_widened && level != llvm::OptimizationLevel::O0) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::GlobalDCEPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(first_lane_passes(options.fast_math)));
    if (code.has_coroutine) add_coroutine_passes(passes);
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(last_lane_passes()));
    passes.run(module, modules);
    return;
  }
  auto passes = level == llvm::OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                                     : builder.buildPerModuleDefaultPipeline(level);
  if (level == llvm::OptimizationLevel::O0) {
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(CancelPass()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(LongLoopPass()));
  }
  passes.run(module, modules);
  erase_array_bytes(module);
}

}  // namespace iruka::cpu_backend
