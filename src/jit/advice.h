// Hints for the most common mistakes in kernels.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/device.h"

namespace iruka::jit {

/// "; ..." to append to a compiler's message; empty if there is no hint. `notes` are those that follow the error, and
/// `line` is the user's line in which the error lies; empty if it lies elsewhere.
std::string advice_on(const Diagnostic& error, std::span<const Diagnostic> notes, std::string_view line);

/// Whether a message of Clang or NVRTC says that a name is not declared.
bool is_about_unknown_name(std::string_view message);

/// A bracket without its partner.
struct UnmatchedBracket {
  int line = 0, column = 0;  ///< from 1
  std::string message;
};
/// The first closing bracket of `text` without a partner, else the last opening one. Ignores comments and strings.
std::optional<UnmatchedBracket> unmatched_bracket(std::string_view text);

}  // namespace iruka::jit
