#include "jit/diagnose.h"

#include <algorithm>

#include "jit/advice.h"

namespace iruka::jit {
namespace {

constexpr int kMostDiagnostics = 8;
constexpr size_t kLongestLine = 240;

std::string line_of(const std::string& text, int line) {
  size_t begin = 0;
  for (int k = 1; k < line; ++k) {
    begin = text.find('\n', begin);
    if (begin == text.npos) return "";
    ++begin;
  }
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

/// The line, and a caret in the line below; tabs are kept so that the caret's column is right.
std::string quote_line(const std::string& line, int column) {
  if (line.empty() || line.size() > kLongestLine) return "";
  if (column <= 0) return "\n      " + line;
  std::string caret;
  for (int k = 0; k + 1 < column && k < static_cast<int>(line.size()); ++k) caret += line[k] == '\t' ? '\t' : ' ';
  return "\n      " + line + "\n      " + caret + "^";
}

std::string describe_one(const Diagnostic& diagnostic, const Blame& blame) {
  const char* level = diagnostic.level == Diagnostic::Level::error     ? "error"
                      : diagnostic.level == Diagnostic::Level::warning ? "warning"
                                                                       : "note";
  std::string words = "\n  ";
  const std::string message =
      diagnostic.message + (diagnostic.level == Diagnostic::Level::error ? advice_on(diagnostic.message) : "");
  if (std::ranges::find(blame.texts, diagnostic.file, &Texts::value_type::first) != blame.texts.end()) {
    words += diagnostic.file + ", line " + std::to_string(diagnostic.line) + ": " + level + ": " + message;
    words += quote(blame.texts, diagnostic.file, diagnostic.line, diagnostic.column);
  } else {
    words += std::string(level) + ": " + message;
  }
  return words;
}

/// A note about the prelude's source does not help a user.
bool is_worth_telling(const Diagnostic& diagnostic, const Blame& blame) {
  if (diagnostic.level == Diagnostic::Level::warning) return false;
  if (diagnostic.level == Diagnostic::Level::error) return true;
  return std::ranges::any_of(blame.texts, [&](const auto& text) { return text.first == diagnostic.file; });
}

/// A place behind a text becomes its last character's.
Diagnostic within_text(Diagnostic diagnostic, const Blame& blame) {
  const auto text = std::ranges::find(blame.texts, diagnostic.file, &Texts::value_type::first);
  if (text == blame.texts.end()) return diagnostic;
  const std::string_view whole = text->second;
  const size_t last = whole.find_last_not_of(" \t\r\n");
  const std::string_view seen = whole.substr(0, last == whole.npos ? 0 : last + 1);
  const int lines = 1 + static_cast<int>(std::ranges::count(seen, '\n'));
  if (diagnostic.line <= 1 + static_cast<int>(std::ranges::count(whole, '\n'))) return diagnostic;
  diagnostic.line = lines;
  diagnostic.column = static_cast<int>(seen.size() - (seen.rfind('\n') + 1));
  return diagnostic;
}

/// An error about unbalanced brackets, in place of the compiler's misleading messages.
std::vector<Diagnostic> loose_brackets(const Blame& blame) {
  std::vector<Diagnostic> found;
  for (const auto& [file, text] : blame.texts)
    if (const auto loose = unmatched_bracket(text))
      found.push_back({Diagnostic::Level::error, file, loose->line, loose->column, loose->message});
  return found;
}

bool is_about_grammar(const Diagnostic& diagnostic) {
  return diagnostic.message.find("expected") != std::string::npos ||
         diagnostic.message.find("extraneous") != std::string::npos || diagnostic.message.starts_with("to match this");
}

}  // namespace

std::string quote(const Texts& texts, std::string_view file, int line, int column) {
  const auto text = std::ranges::find(texts, file, &Texts::value_type::first);
  return text == texts.end() ? "" : quote_line(line_of(text->second, line), column);
}

std::string describe_warning(const Diagnostic& warning, const Blame& blame) {
  return "kernel '" + blame.kernel_name + "'" + (blame.made_at.empty() ? "" : ", made at " + blame.made_at) + ":" +
         describe_one(warning, blame);
}

std::string describe(std::span<const Diagnostic> diagnostics, const Blame& blame) {
  std::string words = "kernel '" + blame.kernel_name + "' does not compile";
  if (!blame.argument_types.empty()) words += " for (" + blame.argument_types + ")";
  if (!blame.made_at.empty()) words += ", made at " + blame.made_at;
  words += ":";
  int told = 0;
  std::vector<Diagnostic> all = loose_brackets(blame);
  const bool is_loose = !all.empty();
  for (const Diagnostic& diagnostic : diagnostics)
    if (is_worth_telling(diagnostic, blame) && !(is_loose && is_about_grammar(diagnostic)))
      all.push_back(within_text(diagnostic, blame));
  for (const Diagnostic& diagnostic : all) {
    if (++told > kMostDiagnostics) {
      words += "\n  ...";
      break;
    }
    words += describe_one(diagnostic, blame);
  }
  return words;
}

}  // namespace iruka::jit
