// Runs a generated kernel both ways; makes one that fails smaller.
#pragma once

#include <optional>
#include <string>

#include "spmd_arguments.h"

namespace iruka::testing {

/// The kernel with its --lanes, and as scalar code that nothing has optimised.
ElementwiseKernel widened_kernel(const GeneratedKernel& kernel);
ElementwiseKernel reference_kernel(const GeneratedKernel& kernel);

/// Runs both for every shape and compares all arrays. The result is the first difference, in words, where --lanes=1
/// does not give what was found either. `has_effect`, where given, becomes true when different elements were given
/// different values.
std::optional<std::string> compare_paths(const GeneratedKernel& kernel, GuardedPool& pool, bool* has_effect = nullptr);

/// Drops lines and blocks while the two still differ. Each attempt runs in a child process, so that a crash is a
/// difference, too; `says` becomes what is wrong with the result, empty when nothing is wrong with `kernel`.
GeneratedKernel reduce(GeneratedKernel kernel, std::string& says);

}  // namespace iruka::testing
