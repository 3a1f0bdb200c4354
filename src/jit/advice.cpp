#include "jit/advice.h"

#include <algorithm>
#include <vector>

#include "iruka/dtype.h"
#include "jit/grammar.h"

namespace iruka::jit {
namespace {

/// The part of `message` between `before` and `end`.
std::string_view between(std::string_view message, std::string_view before, char end) {
  const size_t at = message.find(before);
  if (at == message.npos) return "";
  const size_t begin = at + before.size();
  return message.substr(begin, message.find(end, begin) - begin);
}

/// The unknown identifier in an error message of Clang or NVRTC.
std::string_view unknown_name(std::string_view message) {
  for (const std::string_view before : {"undeclared identifier '", "unknown type name '", "undeclared label '"})
    if (const std::string_view name = between(message, before, '\''); !name.empty()) return name;
  const std::string_view name = between(message, "identifier \"", '"');
  return message.find("is undefined") != message.npos ? name : "";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The C++ type for a dtype's name, if the two differ.
std::string_view type_for(std::string_view dtype) {
  for (int k = 0; k < kDtypeCount; ++k) {
    const auto& known = info(static_cast<Dtype>(k));
    if (dtype == known.name && dtype != known.c_type) return known.c_type;
  }
  return "";
}

}  // namespace

std::string advice_on(std::string_view message) {
  const std::string_view name = unknown_name(message);
  if (name == "std" || message.find("namespace \"std\" has no member") != message.npos)
    return "; a kernel has no standard library: max, min, abs, sqrt, isnan and the like are there without std::";
  if (name == "printf" || name == "puts" || name == "cout")
    return "; a kernel cannot print: write what is to be seen to an output, or state it with assert(...)";
  if (name == "True" || name == "False") return std::string("; C++ writes ") + (name == "True" ? "true" : "false");
  if (name == "np" || name == "numpy" || name == "math")
    return "; a kernel is C++: max, min, abs, sqrt, isnan and the like are there without a prefix";
  if (const std::string_view type = type_for(name); !type.empty())
    return "; '" + std::string(name) + "' is a dtype's name, for parameters; inside a text its type is called '" +
           std::string(type) + "'";
  // Messages of Clang and NVRTC, for assignments and atomic operations.
  for (const std::string_view refusal : {"'operator[]' returns a const value", "must be a modifiable lvalue",
                                         "deleted function", "no viable overloaded '=", "no operator \"="})
    if (message.find(refusal) != message.npos)
      return "; const parameters and read-only arrays may not be written: give an array that may, as an output or an "
             "input ('raw _non_const T x')";
  return "";
}

std::optional<UnmatchedBracket> unmatched_bracket(std::string_view text) {
  struct Open {
    char bracket;
    int line, column;
  };
  std::vector<Open> open;
  int line = 1;
  size_t line_begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = skip_unseen(text, at);
    if (end > at) {
      for (; at < end; ++at)
        if (text[at] == '\n') ++line, line_begin = at + 1;
      continue;
    }
    const char c = text[at];
    if (is_digit(c)) {  // 1'000 holds no character
      while (at < text.size() && (is_word(text[at]) || text[at] == '\'')) ++at;
      continue;
    }
    const int column = static_cast<int>(at - line_begin) + 1;
    if (c == '(' || c == '[' || c == '{') open.push_back({c, line, column});
    if (c == ')' || c == ']' || c == '}') {
      const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty()) return UnmatchedBracket{line, column, std::string("this '") + c + "' has no opening bracket"};
      if (open.back().bracket != partner)
        return UnmatchedBracket{line, column,
                                std::string("this '") + c + "' does not match the '" + open.back().bracket +
                                    "' of line " + std::to_string(open.back().line)};
      open.pop_back();
    }
    if (c == '\n') ++line, line_begin = at + 1;
    ++at;
  }
  if (open.empty()) return {};
  return UnmatchedBracket{open.back().line, open.back().column,
                          std::string("this '") + open.back().bracket + "' is never closed"};
}

}  // namespace iruka::jit
