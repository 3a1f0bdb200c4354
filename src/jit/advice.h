// What to write instead, for the faults that kernels' authors make most.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace iruka::jit {

/// "; ..." to follow a compiler's message; empty where there is nothing to add to it.
std::string advice_on(std::string_view message);

/// A bracket without its partner.
struct LooseBracket {
  int line = 0, column = 0;  ///< from 1
  std::string message;
};
/// The first bracket of `text` that closes nothing, else the last that is never closed. Comments and strings hold none.
std::optional<LooseBracket> loose_bracket(std::string_view text);

}  // namespace iruka::jit
