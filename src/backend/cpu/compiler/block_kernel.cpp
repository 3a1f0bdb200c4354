#include "backend/cpu/compiler/block_kernel.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "backend/cpu/compiler/compiler.h"
#include "backend/cpu/compiler/symbols.h"
#include "backend/cpu/spmd/block_calls.h"
#include "backend/cpu/spmd/prepare.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace iruka::cpu_backend {
namespace {

using llvm::Value;

constexpr const char* kBinder = "iruka_bind_thread";
constexpr const char* kUnitLanes = "iruka_unit_lanes";
constexpr const char* kSharedBytes = "iruka_shared_bytes";
constexpr const char* kHasDynamic = "iruka_has_dynamic";
constexpr const char* kTakeMemory = "iruka_take_memory";
constexpr const char* kGridEntryName = kGridBlocksEntry.data();
constexpr const char* kSharedMark = "iruka_shared";
constexpr const char* kConstantMark = "iruka_constant";
constexpr const char* kBoundsMark = "iruka_launch_bounds";
constexpr uint32_t kMostThreads = 1024;
constexpr int kWarp = 32;

/// What kBinder's first operands name in a text, and the names for messages. The block's memory follows, of fixed and
/// of dynamic size.
constexpr std::pair<const char*, const char*> kBound[] = {
    {"threadIdx", "threadIdx"}, {"blockIdx", "blockIdx"}, {"iruka_grid", "gridDim"}, {"iruka_lane", "lanes"}};
constexpr unsigned kShared = std::size(kBound), kDynamic = kShared + 1;

/// The text of an annotation.
llvm::StringRef mark_of(const Value* text) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(text->stripPointerCasts());
  const auto* data = variable && variable->hasInitializer()
                         ? llvm::dyn_cast<llvm::ConstantDataArray>(variable->getInitializer())
                         : nullptr;
  return data && data->isCString() ? data->getAsCString() : llvm::StringRef();
}

/// The first number of an annotation.
uint32_t number_of(const Value* numbers) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(numbers->stripPointerCasts());
  const llvm::Constant* list = variable && variable->hasInitializer() ? variable->getInitializer() : nullptr;
  const auto* first = list ? llvm::dyn_cast_or_null<llvm::ConstantInt>(list->getAggregateElement(0u)) : nullptr;
  return first ? static_cast<uint32_t>(first->getLimitedValue(kMostThreads)) : kMostThreads;
}

/// The functions that `function` calls, directly or not, itself among them.
llvm::SmallSetVector<const llvm::Function*, 16> reached_from(const llvm::Function& function) {
  llvm::SmallSetVector<const llvm::Function*, 16> reached;
  reached.insert(&function);
  for (unsigned k = 0; k < reached.size(); ++k)
    for (const llvm::Instruction& instruction : llvm::instructions(*reached[k]))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->getCalledFunction())
        reached.insert(call->getCalledFunction());
  return reached;
}

template <class Work>
void with_analyses(Work&& work) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(nullptr, {}, std::nullopt, nullptr, /*FS=*/nullptr);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  work(modules);
}

/// The memory of a block's threads, and the places in it of the variables that the text declares __shared__.
class BlockMemory {
 public:
  explicit BlockMemory(llvm::Module& module) : module_(module) {}

  /// Locals are marked in their functions, variables of functions and namespaces in a list of the module. What other
  /// kernels of the text use is removed first.
  void find_shared() {
    llvm::SmallVector<llvm::WeakVH, 8> marked;
    if (llvm::GlobalVariable* list = module_.getNamedGlobal("llvm.global.annotations")) {
      if (const auto* entries = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer()))
        read_marks(*entries, marked);
      list->eraseFromParent();
    }
    with_analyses([&](llvm::ModuleAnalysisManager& modules) { llvm::GlobalDCEPass().run(module_, modules); });
    for (llvm::Function& function : module_) find_locals(function);
    for (llvm::WeakVH& each : marked)
      if (auto* variable = llvm::cast_or_null<llvm::GlobalVariable>(each); variable && !variable->use_empty())
        add(*variable);
    properties_.shared_bytes = static_cast<uint32_t>(bytes_);
    // Nothing but the dynamic memory of a block has no definition.
    for (llvm::GlobalVariable& variable : module_.globals()) {
      const bool is_bound = llvm::any_of(kBound, [&](const auto& bound) { return variable.getName() == bound.first; });
      if (variable.isDeclaration() && !is_bound && !symbol_address(variable.getName())) dynamic_.insert(&variable);
    }
  }

  uint64_t bytes() const { return bytes_; }
  bool has_dynamic() const { return !dynamic_.empty(); }
  const BlockProperties& properties() const { return properties_; }

  /// Replaces the variables in `unit`, where `binder` names the memory of the thread and its block.
  void bind(llvm::Function& unit, llvm::CallInst& binder) {
    llvm::IRBuilder<> build(&binder);
    for (unsigned k = 0; k < kShared; ++k)
      if (auto* variable = module_.getNamedGlobal(kBound[k].first)) replace(*variable, unit, binder.getArgOperand(k));
    for (const auto& [variable, offset] : variables())
      replace(*variable, unit, build.CreateConstGEP1_64(build.getInt8Ty(), binder.getArgOperand(kShared), offset));
    for (llvm::GlobalVariable* variable : dynamic_) replace(*variable, unit, binder.getArgOperand(kDynamic));
    binder.eraseFromParent();
  }

  /// Removes the variables, which the block's memory stands for, but those that other functions use.
  llvm::SmallVector<const Value*, 4> remove_shared() {
    llvm::SmallVector<const Value*, 4> used;
    for (const auto& [variable, offset] : variables()) {
      variable->removeDeadConstantUsers();
      if (variable->use_empty())
        variable->eraseFromParent();
      else
        used.push_back(variable);
    }
    return used;
  }

 private:
  llvm::SmallVector<std::pair<llvm::GlobalVariable*, uint64_t>, 8> variables() {
    llvm::SmallVector<std::pair<llvm::GlobalVariable*, uint64_t>, 8> present;
    for (auto& [variable, offset] : shared_)
      if (variable) present.emplace_back(llvm::cast<llvm::GlobalVariable>(variable), offset);
    return present;
  }

  void read_marks(const llvm::ConstantArray& entries, llvm::SmallVectorImpl<llvm::WeakVH>& shared) {
    const llvm::Function* unit = module_.getFunction(kUnitName);
    const auto reached = unit ? reached_from(*unit) : llvm::SmallSetVector<const llvm::Function*, 16>();
    for (const llvm::Use& use : entries.operands()) {
      const auto* entry = llvm::cast<llvm::ConstantStruct>(use.get());
      Value* marked = entry->getOperand(0)->stripPointerCasts();
      const llvm::StringRef mark = mark_of(entry->getOperand(1));
      auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(marked);
      const auto* function = llvm::dyn_cast<llvm::Function>(marked);
      if (variable && mark == kSharedMark) shared.emplace_back(variable);
      if (variable && mark == kConstantMark)
        properties_.constant_bytes +=
            static_cast<uint32_t>(module_.getDataLayout().getTypeAllocSize(variable->getValueType()).getFixedValue());
      if (function && mark == kBoundsMark && reached.contains(function) && entry->getNumOperands() > 4)
        properties_.most_threads = std::min(properties_.most_threads, number_of(entry->getOperand(4)));
    }
  }

  void find_locals(llvm::Function& function) {
    llvm::SmallVector<llvm::CallInst*, 8> marks;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call && call->getIntrinsicID() == llvm::Intrinsic::var_annotation &&
          mark_of(call->getArgOperand(1)) == kSharedMark)
        marks.push_back(call);
    }
    for (llvm::CallInst* mark : marks) {
      auto* local = llvm::dyn_cast<llvm::AllocaInst>(mark->getArgOperand(0)->stripPointerCasts());
      mark->eraseFromParent();
      if (!local) continue;
      llvm::Type* type = local->getAllocatedType();
      auto* variable = new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::InternalLinkage,
                                                llvm::UndefValue::get(type), "shared");
      variable->setAlignment(local->getAlign());
      for (llvm::User* user : llvm::make_early_inc_range(local->users()))
        if (auto* instruction = llvm::cast<llvm::Instruction>(user); instruction->isLifetimeStartOrEnd())
          instruction->eraseFromParent();
      local->replaceAllUsesWith(variable);
      local->eraseFromParent();
      add(*variable);
    }
  }

  void add(llvm::GlobalVariable& variable) {
    const llvm::DataLayout& layout = module_.getDataLayout();
    bytes_ = llvm::alignTo(bytes_, layout.getPreferredAlign(&variable));
    shared_.emplace_back(&variable, bytes_);
    bytes_ += layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  }

  void replace(llvm::GlobalVariable& variable, llvm::Function& unit, Value* place) {
    llvm::convertUsersOfConstantsToInstructions({&variable}, &unit);
    variable.replaceUsesWithIf(place, [&](const llvm::Use& use) {
      const auto* instruction = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      return instruction && instruction->getFunction() == &unit;
    });
  }

  llvm::Module& module_;
  uint64_t bytes_ = 0;
  BlockProperties properties_{.most_threads = kMostThreads};
  llvm::SmallVector<std::pair<llvm::WeakVH, uint64_t>, 8> shared_;  ///< null for those that were unused and are gone
  llvm::SmallSetVector<llvm::GlobalVariable*, 4> dynamic_;
};

llvm::SmallVector<llvm::CallInst*, 8> calls_of(llvm::Module& module, llvm::StringRef name) {
  llvm::SmallVector<llvm::CallInst*, 8> calls;
  if (llvm::Function* callee = module.getFunction(name))
    for (llvm::User* user : callee->users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && call->getCalledFunction() == callee)
        calls.push_back(call);
  return calls;
}

void replace_calls(llvm::Module& module, llvm::StringRef name, uint64_t value) {
  for (llvm::CallInst* call : calls_of(module, name)) {
    call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), value));
    call->eraseFromParent();
  }
}

Diagnostic error_at(const llvm::Instruction& place, std::string message) {
  Diagnostic error{Diagnostic::Level::error, "", 0, 0, std::move(message)};
  if (const llvm::DILocation* at = place.getDebugLoc().get()) {
    error.file = at->getFilename().str();
    error.line = static_cast<int>(at->getLine());
    error.column = static_cast<int>(at->getColumn());
  }
  return error;
}

/// What belongs to a thread or its block is known in the unit alone, so functions that are not inlined cannot use it.
void refuse_uses_outside(llvm::Module& module, const llvm::Function& unit, llvm::ArrayRef<const Value*> shared,
                         std::vector<Diagnostic>& diagnostics) {
  const auto refuse = [&](const Value& value, const std::string& what) {
    llvm::SmallVector<const Value*, 8> work{&value};
    while (!work.empty()) {
      for (const llvm::User* user : work.pop_back_val()->users()) {
        if (llvm::isa<llvm::ConstantExpr>(user)) work.push_back(user);
        const auto* place = llvm::dyn_cast<llvm::Instruction>(user);
        if (!place || place->getFunction() == &unit) continue;
        diagnostics.push_back(error_at(
            *place, "a function that is recursive or called through a pointer cannot use " + what + " on the CPU"));
        return;
      }
    }
  };
  for (const auto& [name, what] : kBound)
    if (const auto* variable = module.getNamedGlobal(name)) refuse(*variable, what);
  for (const Value* variable : shared) refuse(*variable, "__shared__ variables");
  for (const spmd::BlockFunction& called : spmd::block_functions())
    if (const llvm::Function* function = module.getFunction(called.name)) refuse(*function, called.in_cuda);
}

/// Lanes of a unit that waits: as many as fill a vector, and whole parts of a row if possible.
int waiting_lanes(int threads, int row, int vector_bytes) {
  const int natural = std::max(4, vector_bytes / 4);
  const int most = static_cast<int>(std::bit_ceil(static_cast<unsigned>(threads)));
  for (int lanes = std::min(2 * natural, most); lanes >= std::min(4, most); lanes /= 2)
    if (row % lanes == 0) return lanes;
  return std::min(natural, most);
}

/// Writes the parts that every suspension shares.
class Coroutine {
 public:
  explicit Coroutine(llvm::Function& unit)
      : unit_(unit), module_(*unit.getParent()), context_(unit.getContext()), build_(context_) {}

  void make(llvm::ArrayRef<llvm::CallInst*> barriers) {
    begin();
    for (llvm::CallInst* barrier : barriers) {
      if (barrier->getCalledFunction()->getName() == spmd::kGridBarrierName) count_at_grid_barrier(*barrier);
      llvm::BasicBlock* before = barrier->getParent();
      llvm::BasicBlock* behind = llvm::SplitBlock(before, barrier->getNextNode()->getIterator());
      barrier->eraseFromParent();
      before->getTerminator()->eraseFromParent();
      build_.SetInsertPoint(before);
      suspend(behind, false);
    }
    end();
    unit_.setPresplitCoroutine();
  }

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(context_, name, &unit_); }

  /// The frame is taken and the coroutine suspended before the first statement of the text.
  void begin() {
    llvm::BasicBlock* body = &unit_.getEntryBlock();
    auto* entry = llvm::BasicBlock::Create(context_, "entry", &unit_, body);
    cleanup_ = block("cleanup");
    leave_ = block("leave");
    auto* begun = block("begun");
    failed_ = block("failed");
    auto* null = llvm::ConstantPointerNull::get(build_.getPtrTy());
    build_.SetInsertPoint(entry);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*body))
      if (llvm::isa<llvm::AllocaInst>(instruction)) instruction.moveBefore(*entry, entry->end());
    id_ = build_.CreateIntrinsic(llvm::Intrinsic::coro_id, {build_.getInt32(64), null, null, null});
    Value* size = build_.CreateIntrinsic(llvm::Intrinsic::coro_size, {build_.getInt64Ty()}, {});
    auto take = module_.getOrInsertFunction(kTakeMemory, build_.getPtrTy(), build_.getInt64Ty());
    Value* memory = build_.CreateCall(take, {size});
    build_.CreateCondBr(build_.CreateIsNull(memory), failed_, begun);
    build_.SetInsertPoint(failed_);
    build_.CreateRet(null);
    build_.SetInsertPoint(begun);
    handle_ = build_.CreateIntrinsic(llvm::Intrinsic::coro_begin, {id_, memory});
    suspend(body, false);
  }

  /// Block::at_grid_barrier is the first member of what the unit's first parameter points to.
  void count_at_grid_barrier(llvm::CallInst& barrier) {
    build_.SetInsertPoint(&barrier);
    Value* count = build_.CreateLoad(build_.getInt32Ty(), unit_.getArg(0));
    build_.CreateStore(build_.CreateAdd(count, build_.getInt32(1)), unit_.getArg(0));
  }

  void suspend(llvm::BasicBlock* resumed, bool is_final) {
    Value* state = build_.CreateIntrinsic(llvm::Intrinsic::coro_suspend,
                                          {llvm::ConstantTokenNone::get(context_), build_.getInt1(is_final)});
    llvm::SwitchInst* ways = build_.CreateSwitch(state, leave_, 2);
    ways->addCase(build_.getInt8(0), resumed);
    ways->addCase(build_.getInt8(1), cleanup_);
  }

  void end() {
    auto* never = block("never");
    auto* ended = block("ended");
    for (llvm::BasicBlock& each : unit_) {
      auto* back = llvm::dyn_cast_or_null<llvm::ReturnInst>(each.getTerminator());
      if (!back || &each == failed_) continue;
      back->eraseFromParent();
      build_.SetInsertPoint(&each);
      build_.CreateBr(ended);
    }
    build_.SetInsertPoint(ended);
    suspend(never, true);
    build_.SetInsertPoint(never);
    build_.CreateUnreachable();
    build_.SetInsertPoint(cleanup_);
    build_.CreateIntrinsic(llvm::Intrinsic::coro_free, {id_, handle_});
    build_.CreateBr(leave_);
    build_.SetInsertPoint(leave_);
    build_.CreateIntrinsic(llvm::Intrinsic::coro_end,
                           {handle_, build_.getFalse(), llvm::ConstantTokenNone::get(context_)});
    build_.CreateRet(handle_);
  }

  llvm::Function& unit_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> build_;
  llvm::BasicBlock *cleanup_ = nullptr, *leave_ = nullptr, *failed_ = nullptr;
  Value *id_ = nullptr, *handle_ = nullptr;
};

/// Inlines all calls, and removes the functions that are then unused.
void inline_calls(llvm::Module& module) {
  with_analyses([&](llvm::ModuleAnalysisManager& modules) {
    spmd::inline_everything(module, modules);
    modules.clear();
    llvm::GlobalDCEPass().run(module, modules);
  });
}

}  // namespace

UnitPlan plan_units(llvm::Module& module, int vector_bytes, int wanted_lanes, std::vector<Diagnostic>& diagnostics) {
  UnitPlan plan;
  BlockMemory memory(module);
  memory.find_shared();
  plan.block = memory.properties();
  spmd::describe_block_calls(module);
  inline_calls(module);
  llvm::Function* unit = module.getFunction(kUnitName);
  if (!unit) return plan;  // a module of variables
  for (llvm::CallInst* binder : calls_of(module, kBinder)) memory.bind(*unit, *binder);
  refuse_uses_outside(module, *unit, memory.remove_shared(), diagnostics);
  replace_calls(module, kSharedBytes, memory.bytes());
  replace_calls(module, kHasDynamic, memory.has_dynamic());
  for (const llvm::CallInst* call : calls_of(module, kUnitLanes)) {
    plan.threads = static_cast<int>(llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getSExtValue());
    plan.row = static_cast<int>(llvm::cast<llvm::ConstantInt>(call->getArgOperand(1))->getSExtValue());
  }
  const bool waits_for_grid = !calls_of(module, spmd::kGridBarrierName).empty();
  if (llvm::Function* entry = module.getFunction(kGridEntryName); entry && !waits_for_grid) entry->eraseFromParent();
  plan.has_barriers = waits_for_grid || !calls_of(module, spmd::kBarrierName).empty();
  plan.has_exchange = spmd::has_exchange(module);
  if (plan.has_exchange) {
    plan.lanes = kWarp;
  } else if (plan.has_barriers) {
    plan.lanes = wanted_lanes > 0 ? wanted_lanes : waiting_lanes(plan.threads, plan.row, vector_bytes);
  }
  return plan;
}

void set_unit_lanes(llvm::Module& module, const UnitPlan& plan) {
  const int lanes = plan.lanes > 0 ? plan.lanes : plan.threads;
  replace_calls(module, kUnitLanes, static_cast<uint64_t>(lanes));
  replace_calls(module, "iruka_units_divide_rows", plan.row % lanes == 0);
  replace_calls(module, "iruka_units_divide_blocks", plan.threads % lanes == 0);
}

bool make_coroutine(llvm::Module& module) {
  auto barriers = calls_of(module, spmd::kBarrierName);
  barriers.append(calls_of(module, spmd::kGridBarrierName));
  if (barriers.empty()) return false;
  llvm::Function& unit = *module.getFunction(kUnitName);
  Coroutine(unit).make(barriers);
  unit.setLinkage(llvm::GlobalValue::InternalLinkage);
  return true;
}

uint32_t local_bytes(const llvm::Module& module, int lanes) {
  uint64_t bytes = 0;
  const bool has_unit = llvm::any_of(module, [](const auto& each) { return each.getName().starts_with(kUnitName); });
  for (const llvm::Function& function : module) {
    if (has_unit && !function.getName().starts_with(kUnitName)) continue;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
        if (const auto size = local->getAllocationSize(module.getDataLayout())) bytes += size->getFixedValue();
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!has_unit || !call || !call->getCalledFunction() || call->getCalledFunction()->getName() != kTakeMemory)
        continue;
      if (const auto* frame = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0))) bytes += frame->getZExtValue();
    }
  }
  return static_cast<uint32_t>(std::min<uint64_t>(bytes / static_cast<uint64_t>(lanes), INT32_MAX));
}

}  // namespace iruka::cpu_backend
