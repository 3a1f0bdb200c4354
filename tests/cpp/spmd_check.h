// Runs a generated kernel both ways; makes one that fails smaller.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spmd_arguments.h"

namespace iruka::testing {

/// The kernel with the compiler options `options`.
ElementwiseKernel make_kernel(const GeneratedKernel& kernel, std::vector<std::string> options);

/// Runs the kernel with its --lanes and as scalar code that nothing has optimised, for every shape, and
/// compares all arrays. The result is the first difference, in words. `has_effect`, where given, becomes true when
/// different elements were given different values.
std::optional<std::string> compare_paths(const GeneratedKernel& kernel, GuardedPool& pool, bool* has_effect = nullptr);

/// Drops lines and blocks while the two still differ. Each attempt runs in a child process, so that a crash is a
/// difference, too; `says` becomes what is wrong with the result, empty when nothing is wrong with `kernel`.
GeneratedKernel reduce(GeneratedKernel kernel, std::string& says);

}  // namespace iruka::testing
