#include "backend/cuda/nvrtc_limits.h"

#include <algorithm>
#include <map>
#include <vector>

#include "jit/grammar.h"

namespace iruka::cuda_backend {
namespace {

constexpr size_t kLargestText = size_t{4} << 20;  ///< bytes
constexpr size_t kDeepestBrackets = 1000;
constexpr int kLongestChain = 5000;     ///< tokens of one statement
constexpr int kMostElses = 5000;        ///< of one text: else if (...) nests
constexpr int kMostTokens = 2'000'000;  ///< macros can multiply

/// How many tokens a text becomes: `tokens`, and `uses` times those of a macro's argument.
struct Length {
  double tokens = 0, uses = 0;

  Length& operator+=(const Length& other) {
    tokens += other.tokens;
    uses += other.uses;
    return *this;
  }
};

struct Macro {
  std::vector<std::string_view> parameters;
  std::string_view body;
  bool takes_arguments = false, is_under_way = false, is_measured = false;
  Length length{};
};

bool is_word(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// The end of the token at `at`: a word, a literal, a comment or one character.
size_t token_end(std::string_view text, size_t at) {
  if (const size_t end = jit::skip_unseen(text, at); end > at) return end;
  size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return std::max(end, at + 1);
}

/// The place behind the line at `at`, whose end may be escaped.
size_t line_end(std::string_view text, size_t at) {
  size_t end = text.find('\n', at);
  while (end != text.npos && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return std::min(end, text.size());
}

class Limiter {
 public:
  explicit Limiter(std::string_view text) {
    std::string_view rest = text;
    for (size_t at = 0; at < rest.size(); at = line_end(rest, at) + 1) take_definition(rest.substr(at));
    measure_statements(text);
  }

  const char* error() const { return error_; }

 private:
  static constexpr double kMost = 1e18;
  static constexpr int kDeepest = 200;  ///< of macros in macros, calls in calls; what lies deeper counts as one token

  void take_definition(std::string_view line) {
    const auto skip_spaces = [&] {
      while (!line.empty() && (line[0] == ' ' || line[0] == '\t')) line.remove_prefix(1);
    };
    skip_spaces();
    if (!line.starts_with('#')) return;
    line.remove_prefix(1);
    skip_spaces();
    constexpr std::string_view kDefine = "define";
    if (!line.starts_with(kDefine)) return;
    line = line.substr(kDefine.size(), line_end(line, 0) - std::min(line_end(line, 0), kDefine.size()));
    skip_spaces();
    size_t end = 0;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end == 0) return;
    Macro& macro = macros_[line.substr(0, end)];
    macro = {};
    line.remove_prefix(end);
    if (line.starts_with('(')) {
      macro.takes_arguments = true;
      const size_t close = std::min(line.find(')'), line.size());
      for (size_t at = 1; at < close; at = token_end(line, at))
        if (is_word(line[at])) macro.parameters.push_back(line.substr(at, token_end(line, at) - at));
      macro.parameters.push_back("__VA_ARGS__");
      line.remove_prefix(std::min(close + 1, line.size()));
    }
    macro.body = line;
  }

  Length length_of(Macro& macro, int depth) {
    if (macro.is_under_way || depth > kDeepest) return {1, 0};  // a macro is not expanded in itself
    if (!macro.is_measured) {
      macro.is_under_way = true;
      macro.length = length_of(macro.body, macro.parameters, depth + 1);
      macro.is_under_way = false;
      macro.is_measured = true;
    }
    return macro.length;
  }

  Length length_of(std::string_view text, const std::vector<std::string_view>& parameters, int depth) {
    Length total;
    for (size_t at = 0; at < text.size();) total += next_length(text, at, parameters, depth);
    return {std::min(total.tokens, kMost), std::min(total.uses, kMost)};
  }

  /// The length of the token at `at`, or of the macro's call that begins there; moves `at` behind it.
  Length next_length(std::string_view text, size_t& at, const std::vector<std::string_view>& parameters, int depth) {
    const size_t end = token_end(text, at);
    const std::string_view token = text.substr(at, end - at);
    at = end;
    if (token.find_first_not_of(" \t\n\r\\") == token.npos || token.starts_with("//") || token.starts_with("/*"))
      return {};
    if (std::ranges::find(parameters, token) != parameters.end()) return {0, 1};
    const auto found = macros_.find(token);
    if (found == macros_.end()) return {1, 0};
    const Length own = length_of(found->second, depth);
    if (!found->second.takes_arguments) return own;
    size_t open = end;
    while (open < text.size() && (text[open] == ' ' || text[open] == '\n')) ++open;
    if (open >= text.size() || text[open] != '(' || depth > kDeepest) return {1, 0};
    size_t close = open;
    int nested = 0;
    for (; close < text.size(); close = token_end(text, close)) {
      if (text[close] == '(') ++nested;
      if (text[close] == ')' && --nested == 0) break;
    }
    const Length inner = length_of(text.substr(open + 1, close - std::min(close, open + 1)), parameters, depth + 1);
    at = std::min(close + 1, text.size());
    return {own.tokens + own.uses * inner.tokens, own.uses * inner.uses};
  }

  /// The chains of tokens, as the CPU's compiler counts them behind its preprocessor.
  void measure_statements(std::string_view text) {
    std::string_view previous;
    bool is_line_start = true;
    for (size_t at = 0; at < text.size() && !error_;) {
      const char c = text[at];
      if (c == '\n' || c == ' ' || c == '\t' || c == '\r') {
        is_line_start |= c == '\n';
        ++at;
        continue;
      }
      if (c == '#' && is_line_start) {
        at = line_end(text, at);
        continue;
      }
      is_line_start = false;
      const size_t begin = at;
      const Length length = next_length(text, at, {}, 0);
      if (length.tokens == 0) continue;
      const std::string_view token = text.substr(begin, token_end(text, begin) - begin);
      chain_ += length.tokens;
      tokens_ += length.tokens;
      follow(token, previous);
      previous = token;
      if (brackets_.size() > kDeepestBrackets) error_ = "bracket nesting level exceeded maximum of 1000";
      if (chain_ > kLongestChain) error_ = "a statement of the text is too long";
      if (elses_ > kMostElses) error_ = "the text has too many 'else' branches";
      if (tokens_ > kMostTokens) error_ = "the text is too long once its macros are expanded";
    }
  }

  void follow(std::string_view token, std::string_view previous) {
    const char c = token[0];
    if (c == '(' || c == '[') brackets_.push_back(c);
    if (c == '{') {
      constexpr std::string_view kOfBlocks[] = {"else", "do", "try", "const", "noexcept"};
      const char before = previous.empty() ? ';' : previous[0];
      const bool is_initialiser = std::string_view("=,{(]").find(before) != std::string_view::npos ||
                                  (is_word(before) && std::ranges::find(kOfBlocks, previous) == std::end(kOfBlocks));
      brackets_.push_back(is_initialiser ? 'i' : '{');
    }
    const bool is_closed = c == ')' || c == ']' || c == '}';
    if (is_closed && !brackets_.empty()) brackets_.pop_back();
    const char around = brackets_.empty() ? '{' : brackets_.back();
    const bool is_end = (c == ';' && around != '(' && around != '[') || (c == ',' && around == 'i');
    if (c == '{' || c == '}' || is_end) chain_ = 0;
    if (token == "else") ++elses_;
  }

  std::map<std::string_view, Macro> macros_;
  std::vector<char> brackets_;
  double chain_ = 0, tokens_ = 0;
  int elses_ = 0;
  const char* error_ = nullptr;
};

}  // namespace

std::string nvrtc_limit_error(std::string_view text) {
  if (text.size() > kLargestText)
    return "the text has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(kLargestText) +
           " are compiled";
  const Limiter limiter(text);
  return limiter.error() ? limiter.error() : "";
}

}  // namespace iruka::cuda_backend
