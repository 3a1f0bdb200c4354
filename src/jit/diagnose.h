// Messages for a body that does not compile, and the user's line that a message refers to.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "jit/program.h"

namespace iruka::jit {

/// The whole message: kernel, types, place, then each error with the user's own line and a caret.
std::string describe(std::span<const Diagnostic> diagnostics, const ErrorContext& context);

/// One warning in words: kernel, place, the user's own line with a caret.
std::string describe_warning(const Diagnostic& warning, const ErrorContext& context);

/// Line `line` of the text that is called `file`, indented on a line of its own, with a caret beneath unless `column`
/// is 0. Empty where there is no such text or line, and for a line that is empty or too long to show.
std::string quote(const Texts& texts, std::string_view file, int line, int column);

}  // namespace iruka::jit
