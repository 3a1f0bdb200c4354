// Words for a body that does not compile.
#pragma once

#include <span>
#include <string>

#include "jit/program.h"

namespace iruka::jit {

/// The whole message: kernel, types, place, then each error with the user's own line and a caret.
std::string describe(std::span<const Diagnostic> diagnostics, const Blame& blame);

}  // namespace iruka::jit
