// Turns a compiler's remarks about lanes into a user's report.
#pragma once

#include "iruka/report.h"
#include "jit/program.h"

namespace iruka::jit {

/// Compiles `source` only for its report: nothing is loaded or cached. Raises CompileError worded with `context`.
/// `measured_ratio` is the time of the lanes over that of the scalar path, 0 if no trial compared them.
KernelReport report(Device& device, ProgramSource source, const ErrorContext& context, double measured_ratio = 0);

}  // namespace iruka::jit
