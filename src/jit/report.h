// Turns a compiler's remarks about lanes into a user's report.
#pragma once

#include "iruka/report.h"
#include "jit/program.h"

namespace iruka::jit {

/// The result of a trial.
struct MeasuredLanes {
  double per_scalar = 0;  ///< time of the lanes over that of the scalar path; 0: no trial compared them
  int rival_lanes = 0;    ///< with which the program was compiled that had to beat the estimate
};

/// Compiles `source` only for its report: nothing is loaded or cached. Raises CompileError worded with `context`.
KernelReport report(Device& device, ProgramSource source, const ErrorContext& context,
                    const MeasuredLanes& measured = {});

}  // namespace iruka::jit
