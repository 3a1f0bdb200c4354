// Optimises a module by LLVM's passes.
#pragma once

#include "jit/compile_options.h"

namespace llvm {
class Module;
class TargetLibraryInfoImpl;
class TargetMachine;
}  // namespace llvm

namespace iruka::cpu_backend {

/// The functions that the optimiser may make calls to, with their vector forms.
const llvm::TargetLibraryInfoImpl& library_info();

/// What widening has made of the module.
struct WidenedCode {
  bool is_widened = false;
  bool has_coroutine = false;  ///< which must be divided at its suspensions
};

/// Runs LLVM's own pipeline of the options' level. After widening it runs a shorter one in half the time: the scalar
/// form is already simplified, and LLVM's vectorisers cannot handle vectors. Stops early once the caller has stopped
/// waiting for `source`.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, const jit::CompileOptions& options,
              const WidenedCode& code, const ProgramSource& source);

}  // namespace iruka::cpu_backend
