// What LLVM's optimiser does to a module.
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

/// LLVM's own pipeline of the level that the options ask for. Where loops were widened, the fewer passes that still find
/// something, which takes half the time: the scalar form was simplified already, and LLVM's vectorisers fail on vectors.
/// Leaves out what is left to do once nobody waits for `source`.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, const jit::CompileOptions& options, bool is_widened,
              const ProgramSource& source);

}  // namespace iruka::cpu_backend
