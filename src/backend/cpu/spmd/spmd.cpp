#include "backend/cpu/spmd/spmd.h"

#include <memory>
#include <utility>
#include <vector>

#include "backend/cpu/compiler/conditional_loads_pass.h"
#include "backend/cpu/spmd/constant_arrays.h"
#include "backend/cpu/spmd/cost.h"
#include "backend/cpu/spmd/describe.h"
#include "backend/cpu/spmd/lane_loop.h"
#include "backend/cpu/spmd/lane_width.h"
#include "backend/cpu/spmd/loop_writer.h"
#include "backend/cpu/spmd/prepare.h"
#include "backend/cpu/spmd/short_loops.h"
#include "backend/cpu/spmd/speculative_loads.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

namespace iruka::cpu_backend::spmd {
namespace {

/// Bytes for the locals of one copy of the body, of which there are up to three; threads may have small stacks.
constexpr int64_t kLargestFrame = 64 << 10;
/// The same for threads that exchange values, which have no other form.
constexpr int64_t kLargestWarp = 384 << 10;
/// Beyond this many instructions a body is written once, for any mask, which halves the time to compile it.
constexpr size_t kLargeBody = 600;

/// The emitter's calls that tell the compiler of loops and arrays.
constexpr const char* kMarkers[] = {kMarkerName, kOutputArrayName, kSeparateArrayName};

/// The emitter's promises in the argument of a marker.
enum LaneLoopFlag : uint64_t { kRemainder = 1, kSmallArrays = 2, kSmallIndex = 4 };

uint64_t flags_of(const llvm::CallInst& marker) {
  return llvm::cast<llvm::ConstantInt>(marker.getArgOperand(0))->getZExtValue();
}

size_t body_size(const LaneLoop& loop) {
  size_t size = 0;
  for (const llvm::BasicBlock* block : loop.loop->blocks()) size += loop.contains(block) ? block->size() : 0;
  return size;
}

std::vector<llvm::CallInst*> calls_of(llvm::Module& module, const char* name) {
  std::vector<llvm::CallInst*> markers;
  llvm::Function* marker = module.getFunction(name);
  if (!marker) return markers;
  for (llvm::User* user : marker->users()) {
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) markers.push_back(call);
  }
  return markers;
}

void erase_markers(llvm::Module& module) {
  for (const char* name : kMarkers) {
    for (llvm::CallInst* marker : calls_of(module, name)) marker->eraseFromParent();
    llvm::Function* marker = module.getFunction(name);
    if (marker && marker->use_empty()) marker->eraseFromParent();
  }
}

/// The marker identifies its loop or array, so passes must not copy, move or remove it.
void describe_marker(llvm::Function& marker) {
  marker.setOnlyAccessesInaccessibleMemory();
  marker.setDoesNotThrow();
  marker.addFnAttr(llvm::Attribute::WillReturn);
  marker.addFnAttr(llvm::Attribute::NoDuplicate);
}

/// Whether the order of elements may change a result: of atomics on floats, or where the old value is used. A
/// measurement must not choose between two orders.
bool depends_on_order(const LaneLoop& loop) {
  return llvm::any_of(loop.loop->blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& instruction) {
      return instruction.isAtomic() && !llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction) &&
             (!instruction.use_empty() || instruction.getType()->isFloatingPointTy());
    });
  });
}

class Vectoriser {
 public:
  Vectoriser(llvm::Module& module, llvm::TargetMachine& machine, const llvm::TargetLibraryInfoImpl& library,
             const Request& request, LaneReport* report)
      : module_(module),
        request_(request),
        report_(report),
        builder_(&machine, {}, std::nullopt, nullptr, /*FS=*/nullptr) {  // as in pipeline.cpp, no file is read
    functions_.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(components_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  }

  Outcome run() {
    inline_everything(module_, modules_);
    std::vector<llvm::Function*> functions;
    for (llvm::Function& function : module_) {
      if (!find_markers(function).empty()) functions.push_back(&function);
    }
    for (llvm::Function* function : functions) run(*function);
    outcome_.rival_lanes = outcome_.lanes == 1 ? refused_lanes_ : is_uncertain_ ? 1 : 0;
    return outcome_;
  }

 private:
  void run(llvm::Function& function) {
    simplify(function, functions_);
    if (request_.lanes == 0 && stays_with_loop_vectoriser(function)) return;
    unroll_short_loops(function, functions_);
    if (request_.lanes == 1) return;
    llvm::ValueToValueMapTy values;
    std::unique_ptr<llvm::Function> before(llvm::CloneFunction(&function, values));
    before->removeFromParent();
    make_ready(function, functions_);
    is_uncertain_ |= request_.lanes == 0 && has_other_loops(function);
    widens_all_ = request_.lanes == 0 && gains_in_one_of_several(function);
    bool is_widened = false;
    for (llvm::CallInst* marker : find_markers(function)) {
      Refusal refusal = run(*marker);
      functions_.invalidate(function, llvm::PreservedAnalyses::none());
      if (refusal)
        add_to_report(refusal);
      else
        is_widened = true;
    }
    if (!is_widened) return put_back(function, std::move(before));
    llvm::removeUnreachableBlocks(function);
    functions_.invalidate(function, llvm::PreservedAnalyses::none());
  }

  /// What makes lanes cheap, as selects in place of branches and addresses, makes scalar code slow.
  void put_back(llvm::Function& function, std::unique_ptr<llvm::Function> before) {
    functions_.clear(function, function.getName());
    before->takeName(&function);
    function.replaceAllUsesWith(before.get());
    function.eraseFromParent();
    module_.getFunctionList().push_back(before.release());
  }

  /// Whether loop_prep or after_loop have loops, which are not vectorised once the body is widened.
  bool has_other_loops(llvm::Function& function) {
    const auto& loops = functions_.getResult<llvm::LoopAnalysis>(function);
    const MarkedLoops marked = find_marked_loops(function, loops);
    return llvm::any_of(loops.getLoopsInPreorder(), [&](const llvm::Loop* loop) {
      if (marked.around.contains(loop)) return false;
      while (loop && !marked.over_elements.contains(loop)) loop = loop->getParentLoop();
      return !loop;
    });
  }

  /// Whether LLVM's own vectoriser handles these straight bodies, which it also interleaves and which then compile
  /// faster.
  bool stays_with_loop_vectoriser(llvm::Function& function) {
    auto& loops = functions_.getResult<llvm::LoopAnalysis>(function);
    auto& dominators = functions_.getResult<llvm::DominatorTreeAnalysis>(function);
    for (llvm::CallInst* marker : find_markers(function)) {
      LaneLoop lane;
      if (find_lane_loop(*marker, loops, dominators, lane) || lane.body_region.nodes.size() > 1) return false;
      const PrivateMemory memory(lane);
      const LaneAnalysis analysis(lane, memory, {}, 8, true);
      if (!loop_vectoriser_suffices(lane, analysis, memory, target(function, 32))) return false;
    }
    add_to_report({"the body is a straight line, which LLVM's loop vectoriser widens by itself", {}});
    return true;
  }

  /// Whether the function has several bodies, as a kernel of stages does, and one gains from lanes. The others are then
  /// widened as well, because LLVM's loop vectoriser does not run on widened code.
  bool gains_in_one_of_several(llvm::Function& function) {
    auto& loops = functions_.getResult<llvm::LoopAnalysis>(function);
    auto& dominators = functions_.getResult<llvm::DominatorTreeAnalysis>(function);
    int bodies = 0;
    bool gains = false;
    for (llvm::CallInst* marker : find_markers(function)) {
      if (flags_of(*marker) & kRemainder) continue;
      ++bodies;
      LaneLoop lane;
      if (find_lane_loop(*marker, loops, dominators, lane)) continue;
      const PrivateMemory memory(lane);
      if (check_body(lane, memory)) continue;
      const LaneWidth width = choose_lanes(lane, request_);
      const LaneAnalysis analysis(lane, memory, {}, width.lanes, (flags_of(*marker) & kSmallArrays) != 0);
      gains |= width.lanes > 1 && estimate(lane, analysis, memory, target(function, width.bits)).why_not.empty();
    }
    return bodies > 1 && gains;
  }

  WidenTarget target(llvm::Function& function, unsigned lane_bits) {
    return {functions_.getResult<llvm::TargetIRAnalysis>(function),
            functions_.getResult<llvm::TargetLibraryAnalysis>(function), request_.vector_bytes,
            request_.has_mask_registers, lane_bits};
  }

  void add_to_report(const Refusal& refusal) {
    if (!report_) return;
    LaneReport loop;
    loop.reason = refusal.reason;
    describe_refusal(refusal, loop);
    report_->add(std::move(loop));
  }

  Refusal run(llvm::CallInst& marker) {
    llvm::Function& function = *marker.getFunction();
    const uint64_t flags = flags_of(marker);
    LaneLoop lane;
    lane.is_remainder = flags & kRemainder;
    lane.has_threads = flags & kThreadsFlag;
    lane.must_be_lanes = request_.exchanges;
    auto& loops = functions_.getResult<llvm::LoopAnalysis>(function);
    auto& dominators = functions_.getResult<llvm::DominatorTreeAnalysis>(function);
    if (Refusal refusal = find_lane_loop(marker, loops, dominators, lane)) return refusal;
    const llvm::DebugLoc place = marker.getDebugLoc();
    marker.eraseFromParent();
    const PrivateMemory memory(lane);
    if (Refusal refusal = check_body(lane, memory)) return refusal;

    const LaneWidth width = choose_lanes(lane, request_);
    int lanes = width.lanes;
    const int64_t most_bytes = request_.exchanges ? kLargestWarp : kLargestFrame;
    while (lanes > 1 && memory.frame_bytes(lanes) > most_bytes) lanes /= 2;
    if (lanes < 2) return {"the local arrays of so many lanes take too much memory", place};
    const WidenTarget target = this->target(function, width.bits);
    const bool small_arrays = flags & kSmallArrays;
    if (request_.is_unit && lanes != request_.lanes) return {"the local arrays of a unit take too much memory", place};
    const RowSplit split = request_.is_unit ? RowSplit() : find_row_split(lane, lanes);
    const LaneAnalysis analysis(lane, memory, split, lanes, small_arrays);
    if (request_.lanes == 0) {
      const CostEstimate cost = estimate(lane, analysis, memory, target);
      if (!cost.why_not.empty() && !widens_all_) {
        if (cost.is_doubtful && !depends_on_order(lane)) refused_lanes_ = std::max(refused_lanes_, lanes);
        return {cost.why_not, place};
      }
      is_uncertain_ |= cost.is_uncertain || widens_all_;
    }
    if (report_) report_->add(describe(lane, analysis, memory));
    outcome_.lanes = std::max(outcome_.lanes, lanes);
    const bool is_written_once = lane.is_remainder || body_size(lane) > kLargeBody;
    const Body body{lane, memory, analysis, target};
    LoopWriter writer(body, (flags & kSmallIndex) != 0, is_written_once);
    request_.is_unit ? writer.write_unit() : writer.write();
    return {};
  }

  llvm::Module& module_;
  const Request& request_;
  LaneReport* report_;
  Outcome outcome_;
  bool is_uncertain_ = false;  ///< whether only a measurement can show that the lanes are faster
  int refused_lanes_ = 0;      ///< the most of a loop that the estimate refuses and a measurement may not
  bool widens_all_ = false;    ///< of the function, whatever the estimate says of each body
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::PassBuilder builder_;
};

}  // namespace

Outcome widen(llvm::Module& module, llvm::TargetMachine& machine, const llvm::TargetLibraryInfoImpl& library,
              const Request& request, LaneReport* report) {
  Outcome outcome;
  for (const char* name : {kMarkerName, kArrayBytesName, kOutputArrayName, kSeparateArrayName}) {
    if (llvm::Function* marker = module.getFunction(name)) describe_marker(*marker);
  }
  const bool changes_code = request.lanes != 1 || request.is_optimised;
  if (changes_code && !calls_of(module, kMarkerName).empty())
    outcome = Vectoriser(module, machine, library, request, report).run();
  erase_markers(module);
  if (outcome.lanes > 1) erase_array_bytes(module);
  return outcome;
}

}  // namespace iruka::cpu_backend::spmd
