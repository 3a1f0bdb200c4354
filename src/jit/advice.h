// Hints for the most common mistakes in kernels.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace iruka::jit {

/// "; ..." to append to a compiler's message; empty if there is no hint.
std::string advice_on(std::string_view message);

/// A bracket without its partner.
struct UnmatchedBracket {
  int line = 0, column = 0;  ///< from 1
  std::string message;
};
/// The first closing bracket of `text` without a partner, else the last opening one. Ignores comments and strings.
std::optional<UnmatchedBracket> unmatched_bracket(std::string_view text);

}  // namespace iruka::jit
