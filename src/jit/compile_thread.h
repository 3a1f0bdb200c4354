// Compilers run on threads of their own, so that a call can abandon one that takes too long.
#pragma once

#include <functional>
#include <utility>

#include "core/device.h"
#include "jit/program.h"

namespace iruka::jit {

using CompilerCall = std::function<CompiledProgram(const ProgramSource&)>;

/// The result of `call` for `source`. Raises CompileError after as many seconds as `--compile-timeout=` of the source's
/// options or else IRUKA_COMPILE_TIMEOUT says, 60 where neither does, 0 for no limit; and Interrupted at Ctrl-C. The
/// call continues on its own thread, on a copy of the source, until the compiler checks is_cancelled(); what it holds
/// outlives it. Setting the source's `cancelled` meanwhile ends the compiler, too.
/// Throws CompilersEnded on other threads after end_compilers_of_other_threads().
CompiledProgram within_time_limit(const ProgramSource& source, const ErrorContext& context, CompilerCall call);

/// Thrown where a thread may not start compilers any more. It is no Error, because nobody is to handle it but
/// sleep_where_compilers_ended().
struct CompilersEnded {};

[[noreturn]] void sleep_for_ever();

/// The result of `work`, which compiles. A thread that may not compile any more sleeps here for ever, once it holds
/// nothing that others wait for.
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
