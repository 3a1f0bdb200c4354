// Compilers run on threads of their own, so that one that takes too long can be left behind.
#pragma once

#include <functional>

#include "core/device.h"
#include "jit/program.h"

namespace iruka::jit {

using CompilerCall = std::function<CompiledProgram(const ProgramSource&)>;

/// What `call` gives for `source`. Raises CompileError after as many seconds as `--compile-timeout=` of the source's
/// options or else IRUKA_COMPILE_TIMEOUT says, 60 where neither does, 0 for no limit; and Interrupted at Ctrl-C. The
/// call then goes on by itself, on a copy of the source, until the compiler asks is_given_up() of it; what it holds
/// outlives it. Who sets the source's `given_up` meanwhile ends the compiler, too.
/// Other threads that call it once end_compilers_of_other_threads() was called never come back.
CompiledProgram within_time_limit(const ProgramSource& source, const Blame& blame, CompilerCall call);

/// For the end of a program whose other threads go on, before the process takes down what compilers use: those at work
/// come to their end, in a second at most, and from now on this thread alone starts any.
void end_compilers_of_other_threads();

}  // namespace iruka::jit
