#include "jit/grammar.h"

#include <algorithm>
#include <array>

namespace iruka::jit {
namespace {

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || (c >= '0' && c <= '9'); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == '\\'; }

constexpr std::string_view kKeywords[] = {
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq"};

bool is_prelude_macro(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"M_", "IRUKA_", "FLT_", "DBL_"}, kNames[] = {"NAN", "INFINITY", "assert"};
  const bool is_limit = name.ends_with("_MAX") || name.ends_with("_MIN");
  return is_limit || std::ranges::find(kNames, name) != std::end(kNames) ||
         std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string label(const char* kind, const std::string& kernel) { return std::string(kind) + " '" + kernel + "'"; }

// Below, `kernel` is its label: its class and its name.
[[noreturn]] void fail(const std::string& kernel, std::string_view parameter, const std::string& rule) {
  throw ValueError(kernel + ": parameter '" + std::string(parameter) + "': " + rule);
}

/// Advice on a type or name that is written as a pointer, reference or array of C++.
const char* on_arrays(std::string_view word) {
  return word.find_first_of("*&[") == word.npos ? "" : "; a whole array is 'raw TYPE NAME', as in 'raw float32 x'";
}

void check_parameter_name(const std::string& kernel, std::string_view whole, std::string_view name) {
  if (name == "i") fail(kernel, whole, "'i' cannot be a parameter's name, it is the element's index");
  if (name == "_ind") fail(kernel, whole, "'_ind' cannot be a parameter's name, it is the indexer");
  if (!is_identifier(name)) fail(kernel, whole, "'" + std::string(name) + "' is not a C++ name" + on_arrays(name));
  if (is_prelude_macro(name)) fail(kernel, whole, "'" + std::string(name) + "' is a macro of the kernel language");
  if (name.starts_with("iruka_") || name.starts_with("__") || name.starts_with("_raw_"))
    fail(kernel, whole, "names that begin with 'iruka_', '__' or '_raw_' are reserved");
}

/// Takes "[9]" off the end of a parameter. Returns the number; 0 where there is none.
int64_t take_extent(const std::string& kernel, std::string_view whole, std::string_view& text) {
  const auto trimmed = [](std::string_view part) {
    while (!part.empty() && is_space(part.back())) part.remove_suffix(1);
    while (!part.empty() && is_space(part.front())) part.remove_prefix(1);
    return part;
  };
  text = trimmed(text);
  if (!text.ends_with(']')) return 0;
  const size_t open = std::min(text.find('['), text.size() - 1);
  const std::string_view digits = trimmed(text.substr(open + 1, text.size() - open - 2));
  constexpr size_t kMostDigits = 6;
  const bool is_number = !digits.empty() && digits.size() <= kMostDigits &&
                         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  const int extent = is_number ? std::stoi(std::string(digits)) : 0;
  if (extent == 0)
    fail(kernel, whole,
         "an array by value has its number of elements in brackets, as in 'float32 taps[9]'" +
             std::string(on_arrays(whole)));
  text = text.substr(0, open);
  return extent;
}

Parameter parse_one(const std::string& kernel, std::string_view text, bool is_output) {
  std::string whole;
  for (std::string_view word : split_words(text)) whole += (whole.empty() ? "" : " ") + std::string(word);
  const int64_t extent = take_extent(kernel, whole, text);
  const std::vector<std::string_view> words = split_words(text);
  if (words.size() < 2) fail(kernel, whole, "expected [raw] [const|_non_const] TYPE NAME");
  Parameter parameter;
  parameter.is_const = !is_output;
  bool says_const = is_output;
  for (size_t k = 0; k + 2 < words.size(); ++k) {
    if (words[k] == "raw") {
      parameter.raw = true;
    } else if (words[k] == "_non_const") {
      parameter.is_const = false;
      says_const = true;
    } else if (words[k] == "const") {
      if (is_output) fail(kernel, whole, "an output cannot be const");
      parameter.is_const = says_const = true;
    } else {
      fail(kernel, whole, "unknown keyword '" + std::string(words[k]) + "', expected raw, const or _non_const");
    }
  }
  parameter.extent = extent;
  if (extent > 0 && (parameter.raw || !parameter.is_const))
    fail(kernel, whole, "an array by value is a const input, and not raw");
  parameter.follows_array = parameter.raw && !says_const;
  parameter.type = words[words.size() - 2];
  parameter.name = words.back();
  check_parameter_name(kernel, whole, parameter.name);
  if (parameter.type.size() == 1) {
    if (!is_identifier(parameter.type)) fail(kernel, whole, "a placeholder is one letter");
    return parameter;
  }
  try {
    parameter.dtype = parse_dtype(parameter.type);
  } catch (const TypeError& error) {
    const bool is_numbered = parameter.type.size() == 2 && is_word_start(parameter.type[0]);
    throw TypeError(kernel + ": parameter '" + whole + "': " + error.what() +
                    (is_numbered ? "; a placeholder for any dtype is one letter: T, U, V" : on_arrays(parameter.type)));
  }
  return parameter;
}

}  // namespace

std::vector<Parameter> parse_parameters(const std::string& kernel, std::string_view text, bool is_output,
                                        const char* kind) {
  std::vector<Parameter> parameters;
  if (std::ranges::all_of(text, is_space)) return parameters;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    parameters.push_back(parse_one(label(kind, kernel), text.substr(at, end - at), is_output));
    if (parameters.size() > kMaxParameters)
      throw ValueError(label(kind, kernel) + ": more than " + std::to_string(kMaxParameters) + " parameters");
    at = end + 1;
  }
  return parameters;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && is_word_start(name[0]) && std::ranges::all_of(name, is_word) &&
         std::ranges::find(kKeywords, name) == std::end(kKeywords);
}

void check_kernel_name(const std::string& name, const char* kind) {
  if (!is_identifier(name))
    throw ValueError(std::string(kind) + ": invalid kernel name '" + name + "': it must be a C++ name");
}

void check_names_differ(const std::string& kernel, const std::vector<Parameter>& inputs,
                        const std::vector<Parameter>& outputs, const char* kind) {
  std::vector<std::string_view> names;
  for (const auto* list : {&inputs, &outputs})
    for (const Parameter& parameter : *list) {
      if (std::ranges::find(names, parameter.name) != names.end())
        throw ValueError(label(kind, kernel) + ": two parameters are named '" + parameter.name + "'");
      names.push_back(parameter.name);
    }
  for (const auto* list : {&inputs, &outputs})
    for (const Parameter& parameter : *list)
      if (!parameter.dtype && std::ranges::find(names, parameter.type) != names.end())
        throw ValueError(label(kind, kernel) + ": '" + parameter.type +
                         "' is both a placeholder and a parameter's name");
}

namespace {

/// Calls `visit(begin, end)` for each word of `text` outside comments, strings and characters; stops when it returns
/// true.
template <class Visit>
bool any_word(std::string_view text, Visit&& visit) {
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (const size_t unseen = skip_unseen(text, at); unseen > at) {
      at = unseen;
    } else if (is_word(c)) {
      size_t end = at;
      const bool number = c >= '0' && c <= '9';  // 1'000'000 holds no character literal
      while (end < text.size() && (is_word(text[end]) || (number && text[end] == '\''))) ++end;
      if (visit(at, end)) return true;
      at = end;
    } else {
      ++at;
    }
  }
  return false;
}

/// Raw strings are not parsed; a text with one is assumed to contain anything.
bool has_raw_string(std::string_view text) { return text.find("R\"") != text.npos; }

/// The last argument of the call whose parenthesis opens at `open`; "" when it does not close.
std::string_view last_argument(std::string_view text, size_t open) {
  int depth = 0;
  size_t begin = open + 1;
  for (size_t at = open; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ',' && depth == 1) begin = at + 1;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return text.substr(begin, at - begin);
  }
  return "";
}

bool is_number(std::string_view text) {
  const auto is_part = [](char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == 'f' || c == 'F' || is_space(c) || c == '-';
  };
  return std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; }) && std::ranges::all_of(text, is_part);
}

}  // namespace

size_t skip_unseen(std::string_view text, size_t at) {
  const char c = text[at], next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (c == '/' && next == '/') return std::min(text.find('\n', at), text.size());
  if (c == '/' && next == '*') {
    const size_t end = text.find("*/", at + 2);
    return end == text.npos ? text.size() : end + 2;
  }
  if (c != '"' && c != '\'') return at;
  for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

std::string as_utf8(std::string text) {
  for (size_t at = 0; at < text.size();) {
    const auto byte = [&](size_t k) { return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0u; };
    const unsigned lead = byte(0);
    const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    bool is_valid = length > 0;
    for (size_t k = 1; k < length; ++k) is_valid &= (byte(k) & 0xC0) == 0x80;
    // Overlong forms, surrogates, and numbers beyond the last.
    if (length == 3) is_valid &= !(lead == 0xE0 && byte(1) < 0xA0) && !(lead == 0xED && byte(1) > 0x9F);
    if (length == 4) is_valid &= !(lead == 0xF0 && byte(1) < 0x90) && !(lead == 0xF4 && byte(1) > 0x8F);
    if (!is_valid) text[at] = '?';
    at += is_valid ? length : 1;
  }
  return text;
}

bool mentions(std::string_view text, std::string_view word) {
  if (has_raw_string(text)) return true;
  return any_word(text, [&](size_t begin, size_t end) { return text.substr(begin, end - begin) == word; });
}

bool may_name_narrow_types(std::string_view text) {
  // Parts of their names, of what else gives them (a character, the bits of a float16), and names put together by
  // macros.
  static constexpr std::string_view kSigns[] = {"char",  "short", "int8", "int16", "INT8",
                                                "INT16", "'",     "bits", "half",  "##"};
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return text.find(sign) != text.npos; });
}

bool has_calls(std::string_view text) {
  if (has_raw_string(text)) return true;
  return any_word(text, [&](size_t begin, size_t end) {
    static constexpr std::string_view kKeywords[] = {"if", "return", "sizeof", "switch", "int", "unsigned", "long"};
    const std::string_view word = text.substr(begin, end - begin);
    while (end < text.size() && is_space(text[end])) ++end;
    if (end == text.size() || text[end] != '(' || std::ranges::find(kKeywords, word) != std::end(kKeywords))
      return false;
    for (int dtype = 0; dtype < kDtypeCount; ++dtype)
      if (word == info(static_cast<Dtype>(dtype)).c_type || word == info(static_cast<Dtype>(dtype)).name) return false;
    return true;
  });
}

bool has_open_power(std::string_view text) {
  if (has_raw_string(text)) return true;
  return any_word(text, [&](size_t begin, size_t end) {
    const std::string_view word = text.substr(begin, end - begin);
    if (word.find("pow") == word.npos) return false;
    size_t open = end;
    while (open < text.size() && is_space(text[open])) ++open;
    return open == text.size() || text[open] != '(' || !is_number(last_argument(text, open));
  });
}

}  // namespace iruka::jit

namespace iruka {

std::string Parameter::to_string() const {
  return (raw ? "raw " : "") + type + " " + name + (is_by_value() ? "[" + std::to_string(extent) + "]" : "");
}

}  // namespace iruka
