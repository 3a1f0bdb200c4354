// Compilers run on threads of their own, so that a call can abandon one that takes too long.
#pragma once

#include <functional>
#include <utility>

#include "core/device.h"
#include "jit/program.h"

namespace iruka::jit {

using CompilerCall = std::function<CompiledProgram(const ProgramSource&)>;

/// The result of `call` for `source`. Raises CompileError after the time limit in seconds: the source's option
/// `--compile-timeout=`, else IRUKA_COMPILE_TIMEOUT, else 60; 0 is no limit. Raises Interrupted at Ctrl-C. The call
/// then continues on its own thread until the compiler checks is_cancelled(), so it gets a copy of the source and owns
/// all that it uses. Setting the source's `cancelled` also ends the compiler. Throws CompilersEnded on other threads
/// after end_compilers_of_other_threads().
CompiledProgram within_time_limit(const ProgramSource& source, const ErrorContext& context, CompilerCall call);

/// Thrown if a thread may no longer start compilers. It is not an Error, because only sleep_where_compilers_ended() may
/// catch it.
struct CompilersEnded {};

[[noreturn]] void sleep_for_ever();

/// The result of `work`, which compiles. A thread that may no longer compile sleeps here for ever, after it has
/// released all that other threads wait for.
template <class Work>
auto sleep_where_compilers_ended(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const CompilersEnded&) {
  }
  sleep_for_ever();
}

/// For the end of a process whose other threads still run, before it destroys what compilers use. Running compilers
/// end within a second at most, and from now on only this thread starts compilers.
void end_compilers_of_other_threads();

}  // namespace iruka::jit
