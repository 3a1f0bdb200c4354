#include "jit/diagnose.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "jit/advice.h"
#include "jit/grammar.h"
#include "jit/raw_source.h"

namespace iruka::jit {
namespace {

constexpr size_t kMostDiagnostics = 8;
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

/// The header that `message`, of Clang or NVRTC, says is missing; empty for another message.
std::string_view missing_header(std::string_view message) {
  constexpr std::string_view kClang = "' file not found", kNvrtc = "not open source file \"";
  if (const size_t end = message.find(kClang); end != message.npos && message.starts_with("'"))
    return message.substr(1, end - 1);
  const size_t begin = message.find(kNvrtc);
  if (begin == message.npos) return "";
  const std::string_view name = message.substr(begin + kNvrtc.size());
  return name.substr(0, name.rfind('"'));
}

bool is_standard(std::string_view header) {
  if (header.find_first_of("./") == header.npos) return true;
  static constexpr std::string_view kFiles[] = {"stdlib.h", "string.h", "complex.h", "curand.h",
                                                "mma.h",    "cufft.h",  "cublas.h"};
  static constexpr std::string_view kBegins[] = {"cuda_", "curand_", "device_", "math_", "cub/",  "thrust/",
                                                 "cuda/", "cupy/",   "nv/",     "sys/",  "bits/", "cooperative_groups"};
  return std::ranges::find(kFiles, header) != std::end(kFiles) ||
         std::ranges::any_of(kBegins, [&](std::string_view begin) { return header.starts_with(begin); });
}

/// Where a header was searched for, and why a file that was found was not taken.
std::string on_missing_header(std::string_view header, const Diagnostic& diagnostic, const ErrorContext& context) {
  std::string words;
  std::vector<std::string> folders;
  if (context.includes) {
    for (const std::string& refusal : context.includes->refused)
      if (refusal.find("/" + std::string(header.substr(header.rfind('/') + 1)) + "'") != refusal.npos)
        words += "; " + refusal;
    if (context.includes->text_of(diagnostic.file))
      folders.push_back(diagnostic.file.substr(0, diagnostic.file.rfind('/')));
    folders.insert(folders.end(), context.includes->folders.begin(), context.includes->folders.end());
  }
  if (is_standard(header))
    words +=
        "; a kernel has no standard headers but math.h, stdint.h and the like (docs/raw_kernels.md): mathematical "
        "functions and integer types are there without";
  else if (folders.empty())
    words += "; options=('-I/folder',) names a folder to search, and preamble= takes functions of your own";
  std::string list;
  for (const std::string& folder : folders) {
    std::error_code error;
    list += (list.empty() ? "'" : ", '") + folder + "'";
    if (!std::filesystem::is_directory(folder, error)) list += " (no such folder)";
  }
  return words + (list.empty() ? "" : "; searched: " + list);
}

/// The kernels of the code, after an error in the name of one.
std::string on_unknown_kernel(const ErrorContext& context) {
  const std::string* const code = context.text_of(kCodeFile);
  std::string list;
  for (const std::string& name : kernels_in(code ? *code : "")) list += (list.empty() ? "" : ", ") + name;
  if (!list.empty()) return "; the code's kernels are: " + list;
  const bool may_have_some = code && code->find("__global__") != code->npos;  // templates, or made by macros
  return may_have_some ? "" : "; the code has no kernel: a function is one that is declared `__global__ void`";
}

std::string with_advice(const Diagnostic& diagnostic, std::span<const Diagnostic> notes, const ErrorContext& context) {
  const std::string_view header = missing_header(diagnostic.message);
  if (header == kUnnamedFile)
    return "only an #include with the file's name is followed, no macro, #include_next or #import";
  if (header.empty()) {
    if (diagnostic.file == kNamesFile && is_about_unknown_name(diagnostic.message))
      return diagnostic.message + on_unknown_kernel(context);
    const std::string* const text = context.text_of(diagnostic.file);
    return diagnostic.message + advice_on(diagnostic, notes, text ? line_of(*text, diagnostic.line) : "");
  }
  return "'" + std::string(header) + "' file not found" + on_missing_header(header, diagnostic, context);
}

/// Where a line is marked. NVRTC marks the end of an #include whose header is missing, Clang the name.
int column_of(const Diagnostic& diagnostic, const std::string& line) {
  const std::string_view header = missing_header(diagnostic.message);
  const size_t begin = header.empty() ? line.npos : line.find(header);
  return begin == line.npos ? diagnostic.column : static_cast<int>(begin);
}

/// `message`, which is the diagnostic's own or has advice, with its place and line.
std::string describe_one(const Diagnostic& diagnostic, const std::string& message, const ErrorContext& context) {
  const char* level = diagnostic.level == Diagnostic::Level::error     ? "error"
                      : diagnostic.level == Diagnostic::Level::warning ? "warning"
                                                                       : "note";
  std::string words = "\n  ";
  if (const std::string* text = context.text_of(diagnostic.file)) {
    words += diagnostic.file.substr(0, diagnostic.file.find_last_not_of(' ') + 1) + ", line " +
             std::to_string(diagnostic.line) + ": " + level + ": " + message;
    const std::string line = line_of(*text, diagnostic.line);
    words += quote_line(line, column_of(diagnostic, line));
  } else {
    words += std::string(level) + ": " + message;
  }
  return words;
}

/// Moves a place behind the end of a text to its last character.
Diagnostic clamped_to_text(Diagnostic diagnostic, const ErrorContext& context) {
  const std::string* const text = context.text_of(diagnostic.file);
  if (!text) return diagnostic;
  const std::string_view whole = *text;
  const size_t last = whole.find_last_not_of(" \t\r\n");
  const std::string_view seen = whole.substr(0, last == whole.npos ? 0 : last + 1);
  const int lines = 1 + static_cast<int>(std::ranges::count(seen, '\n'));
  if (diagnostic.line <= 1 + static_cast<int>(std::ranges::count(whole, '\n'))) return diagnostic;
  diagnostic.line = lines;
  diagnostic.column = static_cast<int>(seen.size() - (seen.rfind('\n') + 1));
  return diagnostic;
}

bool is_about_grammar(const Diagnostic& diagnostic) {
  return diagnostic.message.find("expected") != std::string::npos ||
         diagnostic.message.find("extraneous") != std::string::npos;
}

/// Errors about unbalanced brackets, in place of the compiler's misleading messages. Brackets that a compiler accepts
/// are balanced, whatever they look like under an #if.
std::vector<Diagnostic> unmatched_brackets(std::span<const Diagnostic> diagnostics, const ErrorContext& context) {
  std::vector<Diagnostic> found;
  if (std::ranges::none_of(diagnostics, is_about_grammar)) return found;
  for (const auto& [file, text] : context.texts)
    if (const auto loose = unmatched_bracket(text))
      found.push_back({Diagnostic::Level::error, file, loose->line, loose->column, loose->message});
  // The operation of a reduction is generated around the user's expressions: the fault is theirs.
  std::erase_if(found, [&, parts = found](const Diagnostic& fault) {
    const std::string& whole = *context.text_of(fault.file);
    return std::ranges::any_of(parts, [&](const Diagnostic& other) {
      const std::string& part = *context.text_of(other.file);
      return part.size() < whole.size() && whole.find(part) != whole.npos;
    });
  });
  return found;
}

/// Whether an unmatched bracket makes `error` doubtful: it is about grammar, or does not lie in front of the bracket.
bool is_doubtful(const Diagnostic& error, std::span<const Diagnostic> brackets) {
  if (brackets.empty()) return false;
  return is_about_grammar(error) || std::ranges::none_of(brackets, [&](const Diagnostic& bracket) {
           return error.file == bracket.file &&
                  std::pair(error.line, error.column) < std::pair(bracket.line, bracket.column);
         });
}

/// Errors, each with the notes about the user's own texts; warnings and notes about the prelude do not help here.
/// Advice is given once, and an error that is repeated in its line is told once.
std::vector<std::string> describe_errors(std::span<const Diagnostic> diagnostics, const ErrorContext& context) {
  std::vector<std::string> words;
  const std::vector<Diagnostic> brackets = unmatched_brackets(diagnostics, context);
  words.reserve(brackets.size());
  for (const Diagnostic& bracket : brackets) words.push_back(describe_one(bracket, bracket.message, context));
  std::vector<Diagnostic> told;
  for (size_t at = 0, end; at < diagnostics.size(); at = end) {
    for (end = at + 1; end < diagnostics.size() && diagnostics[end].level == Diagnostic::Level::note;) ++end;
    const Diagnostic error = clamped_to_text(diagnostics[at], context);
    if (error.level != Diagnostic::Level::error || is_doubtful(error, brackets)) continue;
    const auto notes = diagnostics.subspan(at + 1, end - at - 1);
    const auto says_same = [&](const Diagnostic& other) { return other.message == error.message; };
    const auto is_same = [&](const Diagnostic& other) {
      return says_same(other) && other.file == error.file && other.line == error.line && error.line > 0;
    };
    if (std::ranges::any_of(told, is_same)) continue;
    const bool is_advised = std::ranges::any_of(told, says_same);
    words.push_back(describe_one(error, is_advised ? error.message : with_advice(error, notes, context), context));
    told.push_back(error);
    for (const Diagnostic& note : notes)
      if (context.text_of(note.file))
        words.push_back(describe_one(clamped_to_text(note, context), note.message, context));
  }
  return words;
}

}  // namespace

const std::string* ErrorContext::text_of(std::string_view file) const {
  const auto text = std::ranges::find(texts, file, &Texts::value_type::first);
  if (text != texts.end()) return &text->second;
  return includes ? includes->text_of(file) : nullptr;
}

std::string quote(const Texts& texts, std::string_view file, int line, int column) {
  const auto text = std::ranges::find(texts, file, &Texts::value_type::first);
  return text == texts.end() ? "" : quote_line(line_of(text->second, line), column);
}

std::string describe_warning(const Diagnostic& warning, const ErrorContext& context) {
  return as_utf8("kernel '" + context.kernel_name + "'" +
                 (context.made_at.empty() ? "" : ", made at " + context.made_at) + ":" +
                 describe_one(warning, warning.message, context));
}

std::string describe(std::span<const Diagnostic> diagnostics, const ErrorContext& context) {
  std::string words = "kernel '" + context.kernel_name + "' does not compile";
  if (!context.argument_types.empty()) words += " for (" + context.argument_types + ")";
  if (!context.made_at.empty()) words += ", made at " + context.made_at;
  words += ":";
  std::vector<Diagnostic> told(diagnostics.begin(), diagnostics.end());
  const auto is_generated = [&](const Diagnostic& said) { return !context.text_of(said.file); };
  const auto is_theirs = [&](const Diagnostic& said) {
    return said.level == Diagnostic::Level::error && !is_generated(said);
  };
  if (context.hides_generated && std::ranges::any_of(told, is_theirs) && unmatched_brackets(told, context).empty())
    std::erase_if(told, is_generated);
  const std::vector<std::string> errors = describe_errors(told, context);
  for (size_t k = 0; k < errors.size() && k < kMostDiagnostics; ++k) words += errors[k];
  if (errors.size() > kMostDiagnostics) words += "\n  ...";
  return as_utf8(std::move(words));
}

}  // namespace iruka::jit
