// From what a compiler tells about lanes to what a user reads.
#pragma once

#include "iruka/report.h"
#include "jit/program.h"

namespace iruka::jit {

/// Compiles `source` for its report alone: nothing is loaded or cached. Raises CompileError worded with `blame`.
KernelReport report(Device& device, ProgramSource source, const Blame& blame);

}  // namespace iruka::jit
