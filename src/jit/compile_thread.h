// Compilers run on threads of their own, so that a call can abandon one that takes too long.
#pragma once

#include <functional>

#include "core/device.h"
#include "jit/program.h"

namespace iruka::jit {

using CompilerCall = std::function<CompiledProgram(const ProgramSource&)>;

/// The result of `call` for `source`. Raises CompileError after as many seconds as `--compile-timeout=` of the source's
/// options or else IRUKA_COMPILE_TIMEOUT says, 60 where neither does, 0 for no limit; and Interrupted at Ctrl-C. The
/// call continues on its own thread, on a copy of the source, until the compiler checks is_given_up(); what it holds
/// outlives it. Setting the source's `given_up` meanwhile ends the compiler, too.
/// After end_compilers_of_other_threads(), a call from another thread blocks for ever.
CompiledProgram within_time_limit(const ProgramSource& source, const Blame& blame, CompilerCall call);

/// For the end of a process whose other threads still run, before it destroys what compilers use. Running compilers
/// end within a second at most, and from now on only this thread starts compilers.
void end_compilers_of_other_threads();

}  // namespace iruka::jit
