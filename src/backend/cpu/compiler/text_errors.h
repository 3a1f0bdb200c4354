// Errors in the user's texts that Clang accepts and code generation would find without a place.
#pragma once

#include <vector>

#include "core/device.h"

namespace clang {
class CompilerInstance;
}

namespace iruka::cpu_backend {

/// The most bytes of a function's local variables, which lie on the calling thread's stack.
inline constexpr uint64_t kLargestFrame = 1 << 20;

/// Adds errors about local variables that are too large, and about calls in a body of functions that the user declares
/// but does not define. False if there are any. Call it while the syntax tree exists.
bool check_texts(clang::CompilerInstance& compiler, std::vector<Diagnostic>& diagnostics);

}  // namespace iruka::cpu_backend
