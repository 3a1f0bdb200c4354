#include "backend/cpu/compiler/codegen.h"

#include <optional>

#include "backend/cpu/compiler/block_kernel.h"
#include "backend/cpu/compiler/compiler.h"
#include "backend/cpu/compiler/guard_pass.h"
#include "backend/cpu/compiler/host.h"
#include "backend/cpu/compiler/pipeline.h"
#include "backend/cpu/compiler/symbols.h"
#include "backend/cpu/compiler/text_errors.h"
#include "backend/cpu/compiler/vector_math.h"
#include "backend/cpu/spmd/spmd.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace iruka::cpu_backend {
namespace {

void fail(std::vector<Diagnostic>& diagnostics, std::string message) {
  diagnostics.push_back({Diagnostic::Level::error, "", 0, 0, std::move(message)});
}

/// SLEEF's functions may be run speculatively, because none of them faults or writes memory.
void mark_math_functions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (!function.isDeclaration() || !sleef_scalar_name(std::string_view(name.data(), name.size()))) continue;
    function.addFnAttr(llvm::Attribute::Speculatable);
    function.addFnAttr(llvm::Attribute::WillReturn);
    function.setDoesNotThrow();
    function.setDoesNotAccessMemory();
  }
}

/// Defines the operations that C++ leaves undefined, and widens the loops over elements.
spmd::Outcome widen(llvm::Module& module, llvm::TargetMachine& machine, const jit::CompileOptions& options,
                    const UnitPlan& units, LaneReport* report) {
  llvm::FunctionAnalysisManager none;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) GuardPass().run(function, none);
  }
  spmd::Request request;
  request.lanes = options.lanes == 0 && options.optimization_level < 2 ? 1 : options.lanes;
  request.is_optimised = options.optimization_level >= 2;
  request.is_unit = units.lanes > 0;
  request.exchanges = units.has_exchange;
  if (request.is_unit) request.lanes = units.lanes;
  request.vector_bytes = host().vector_bytes;
  request.has_mask_registers = host().has_mask_registers();
  spmd::Outcome outcome = spmd::widen(module, machine, library_info(), request, report);
  // With relaxed arithmetic the two paths may round differently, and a measurement must not decide which result a call
  // returns.
  if (options.fast_math) outcome.rival_lanes = 0;
  expand_divisions(module);
  return outcome;
}

struct Widened {
  std::unique_ptr<llvm::Module> module;  ///< null: the one that was given
  spmd::Outcome outcome;
  BlockProperties block;
};

/// Widens a kernel over blocks of threads. Threads that wait for each other, and have no vector form, become units of
/// one thread. No value if an error was added to `diagnostics`.
std::optional<Widened> widen_blocks(llvm::Module& module, llvm::TargetMachine& machine,
                                    const jit::CompileOptions& options, std::vector<Diagnostic>& diagnostics,
                                    LaneReport* report) {
  UnitPlan plan = plan_units(module, host().vector_bytes, options.lanes, diagnostics);
  if (has_error(diagnostics)) return {};
  LaneReport lanes;
  Widened made;
  made.block = plan.block;
  if (plan.lanes > 1) made.module = llvm::CloneModule(module);
  set_unit_lanes(module, plan);
  made.outcome = widen(module, machine, options, plan, plan.lanes > 1 ? &lanes : report);
  if (plan.lanes > 1 && report) *report = lanes;
  if (plan.lanes <= 1 || made.outcome.lanes == plan.lanes) {
    made.module.reset();
    return made;
  }
  if (plan.has_exchange) {
    fail(diagnostics,
         "shuffles, votes and __syncwarp() need lanes on the CPU, and the kernel has none: " + lanes.reason);
    return {};
  }
  plan.lanes = 1;
  set_unit_lanes(*made.module, plan);
  made.outcome = widen(*made.module, machine, options, plan, nullptr);
  return made;
}

/// Whether the text has vectors of its own that fill the widest registers.
bool has_whole_vectors(const llvm::Module& module) {
  const unsigned bits = static_cast<unsigned>(host().vector_bytes) * 8;
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
      if (type && type->getPrimitiveSizeInBits().getFixedValue() >= bits) return true;
    }
  }
  return false;
}

/// LLVM prefers half of the widest registers on some processors and would then pass a full vector to a function in two
/// halves. The math library expects whole registers, and lanes and a text's own vectors are faster with them.
void set_attributes(llvm::Module& module, bool is_widened) {
  const std::string bits = std::to_string(host().vector_bytes * 8);
  const bool prefers_whole = is_widened || has_whole_vectors(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("min-legal-vector-width", bits);
    function.addFnAttr("probe-stack", "inline-asm");  // a frame must not step over the page that guards the stack
    if (prefers_whole) function.addFnAttr("prefer-vector-width", bits);
  }
}

/// A host reads and writes the variables of a module with blocks of threads, whose names C++ may have made local.
void export_variables(llvm::Module& module) {
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.isDeclaration() || variable.isConstant() || variable.getName().starts_with("llvm.")) continue;
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    variable.setVisibility(llvm::GlobalValue::DefaultVisibility);
    variable.setDSOLocal(false);
  }
}

bool is_exported(const ProgramSource& source, const llvm::GlobalValue& value) {
  const llvm::StringRef name = value.getName();
  if (name == source.entry || llvm::is_contained(source.exports, name)) return true;
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
  const bool runs_units = name == kUnitName || name == llvm::StringRef(kGridBlocksEntry);
  return source.runs_blocks && (runs_units || (variable && !variable->isConstant()));
}

/// Whether the text defines what it is to export.
bool check_exports(const llvm::Module& module, const ProgramSource& source, std::vector<Diagnostic>& diagnostics) {
  const llvm::Function* entry = module.getFunction(source.entry);
  if (!source.entry.empty() && (!entry || entry->isDeclaration())) {
    fail(diagnostics, "the text does not define the function '" + source.entry + "'");
    return false;
  }
  for (const std::string& name : source.exports) {
    const llvm::GlobalValue* value = module.getNamedValue(name);
    if (value && !value->isDeclaration() && !value->hasLocalLinkage()) continue;
    fail(diagnostics, "the text does not define a function or variable '" + name + "' that is visible outside of it");
    return false;
  }
  return true;
}

/// A kernel is a function: objects with constructors and thread-local variables would need a runtime.
bool check_globals(const llvm::Module& module, std::vector<Diagnostic>& diagnostics) {
  for (const llvm::GlobalVariable& variable : module.globals()) {
    const std::string name = llvm::demangle(variable.getName().str());
    if (variable.getName() == "llvm.global_ctors" || variable.getName() == "llvm.global_dtors") {
      fail(diagnostics, "a global variable of a kernel cannot have a constructor or destructor that runs");
    } else if (variable.isThreadLocal()) {
      fail(diagnostics, "a kernel cannot have the thread-local variable '" + name + "'");
    } else if (variable.isDeclaration() && !variable.use_empty() && !symbol_address(variable.getName())) {
      fail(diagnostics, "a kernel cannot use the variable '" + name + "', which it does not define");
    }
  }
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty()) continue;
    if (symbol_address(function.getName())) continue;
    fail(diagnostics,
         "a kernel cannot call '" + llvm::demangle(function.getName().str()) + "', which it does not define");
  }
  return diagnostics.empty() || diagnostics.back().level != Diagnostic::Level::error;
}

/// A kernel runs on the calling thread's stack, whose overflow would end the process.
bool check_frames(const llvm::Module& module, std::vector<Diagnostic>& diagnostics) {
  bool ok = true;
  for (const llvm::Function& function : module) {
    uint64_t bytes = 0;
    bool varies = false;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (!local) continue;
      const auto size = local->getAllocationSize(module.getDataLayout());
      if (!local->isStaticAlloca() || !size)
        varies = true;
      else
        bytes = llvm::SaturatingAdd<uint64_t>(bytes, size->getFixedValue());
    }
    if (varies) fail(diagnostics, "a kernel cannot have a local array whose length is only known at run time");
    if (bytes > kLargestFrame) {
      fail(diagnostics, "the local variables of a kernel take " + std::to_string(bytes) + " bytes; at most " +
                            std::to_string(kLargestFrame) + " are allowed");
    }
    ok &= !varies && bytes <= kLargestFrame;
  }
  return ok;
}

/// Optimises the widened module and emits it.
GeneratedCode emit(llvm::Module& module, llvm::TargetMachine& machine, const ProgramSource& source,
                   const jit::CompileOptions& options, const spmd::Outcome& outcome, Output output,
                   std::vector<Diagnostic>& diagnostics, LaneReport* report) {
  set_attributes(module, outcome.lanes > 1);
  const bool has_coroutine = source.runs_blocks && make_coroutine(module);
  optimize(module, machine, options, {.is_widened = outcome.lanes > 1, .has_coroutine = has_coroutine}, source);
  if (source.is_cancelled()) {
    fail(diagnostics, "compilation was cancelled");
    return {};
  }
  if (!check_globals(module, diagnostics) || !check_frames(module, diagnostics)) return {};
  if (report && output == Output::object) return {};  // the report is complete, and the code is not run

  llvm::SmallString<0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager emitter;
  emitter.add(new llvm::TargetLibraryInfoWrapperPass(library_info()));
  const auto type = output == Output::object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(emitter, stream, nullptr, type, /*DisableVerify=*/true)) {
    fail(diagnostics, "the compiler cannot emit code for this processor");
    return {};
  }
  emitter.run(module);
  return {code.str().str(), outcome.lanes, outcome.rival_lanes};
}

}  // namespace

GeneratedCode generate(llvm::Module& module, const ProgramSource& source, const jit::CompileOptions& options,
                       Output output, std::vector<Diagnostic>& diagnostics, LaneReport* report) {
  if (!check_exports(module, source, diagnostics)) return {};
  const TargetMachineLease machine(options.optimization_level, options.fast_math);
  module.setDataLayout(machine->createDataLayout());
  if (source.runs_blocks) export_variables(module);
  llvm::internalizeModule(module, [&](const llvm::GlobalValue& value) { return is_exported(source, value); });
  mark_math_functions(module);
  if (!source.runs_blocks) {
    const spmd::Outcome outcome = widen(module, *machine, options, {}, report);
    return emit(module, *machine, source, options, outcome, output, diagnostics, report);
  }
  const std::optional<Widened> blocks = widen_blocks(module, *machine, options, diagnostics, report);
  if (!blocks) return {};
  llvm::Module& widened = blocks->module ? *blocks->module : module;
  if (!report) llvm::StripDebugInfo(widened);
  GeneratedCode code = emit(widened, *machine, source, options, blocks->outcome, output, diagnostics, report);
  code.block = blocks->block;
  code.block.local_bytes = local_bytes(widened, blocks->outcome.lanes);
  return code;
}

}  // namespace iruka::cpu_backend
