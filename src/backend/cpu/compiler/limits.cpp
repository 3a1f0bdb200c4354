#include "backend/cpu/compiler/limits.h"

#include <algorithm>

#include "clang/AST/ASTContext.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/Token.h"

namespace iruka::cpu_backend {
namespace {

class RefusedPragma : public clang::PragmaHandler {
 public:
  explicit RefusedPragma(llvm::StringRef name) : clang::PragmaHandler(name) {}
  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer, clang::Token& first) override {
    auto& diagnostics = preprocessor.getDiagnostics();
    const unsigned id =
        diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "this pragma is not allowed in a kernel");
    diagnostics.Report(first.getLocation(), id);
  }
};

constexpr const char* kCancelled = "compilation was cancelled";

class IncludeLimiter : public clang::PPCallbacks {
 public:
  IncludeLimiter(clang::Preprocessor& preprocessor, const ProgramSource& source)
      : preprocessor_(preprocessor), source_(source) {}
  void FileChanged(clang::SourceLocation place, FileChangeReason reason, clang::SrcMgr::CharacteristicKind,
                   clang::FileID) override {
    if (reason != EnterFile || (++count_ <= kMost && !source_.is_cancelled())) return;
    auto& diagnostics = preprocessor_.getDiagnostics();
    if (!diagnostics.hasFatalErrorOccurred()) {
      const char* message = count_ > kMost ? "the text includes too many files" : kCancelled;
      diagnostics.Report(place, diagnostics.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Fatal, message));
    }
    auto& lexer = static_cast<clang::Lexer&>(*preprocessor_.getCurrentLexer());
    lexer.seek(static_cast<unsigned>(lexer.getBuffer().size()), /*IsAtStartOfLine=*/false);
  }

 private:
  static constexpr int kMost = 50'000;
  clang::Preprocessor& preprocessor_;
  const ProgramSource& source_;
  int count_ = 0;
};

}  // namespace

std::string text_limit_error(std::string_view text, size_t largest) {
  constexpr size_t kLongestDirective = 20000;
  constexpr int kDeepest = 1000;
  if (text.size() > largest) {
    return "the text has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(largest) +
           " are compiled";
  }
  int depth = 0;
  bool directive = false, line_is_blank = true;
  size_t directive_begin = 0;
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '(' || c == '[' || c == '{') {
      if (++depth > kDeepest) return "bracket nesting level exceeded maximum of " + std::to_string(kDeepest);
    } else if (c == ')' || c == ']' || c == '}') {
      depth = std::max(0, depth - 1);
    }
    if (c == '\n' && !(k > 0 && text[k - 1] == '\\')) {
      directive = false;
      line_is_blank = true;
    } else if (c == '#' && line_is_blank) {
      directive = true;
      directive_begin = k;
      line_is_blank = false;
    } else if (c != ' ' && c != '\t') {
      line_is_blank = false;
    }
    if (directive && k - directive_begin > kLongestDirective) return "a preprocessor directive is too long";
  }
  return {};
}

void TokenLimiter::operator()(const clang::Token& token) {
  if (!failed_ && !token.isAnnotation()) count(token);
  // Clang has no call that stops lexing, but its parser ends at the first end of file it sees.
  if (failed_) {
    auto& changed = const_cast<clang::Token&>(token);
    changed.startToken();
    changed.setKind(clang::tok::eof);
    changed.setLocation(token.getLocation());
  }
}

void TokenLimiter::count(const clang::Token& token) {
  using namespace clang::tok;
  ++chain_;
  switch (token.getKind()) {
    case l_paren: brackets_.push_back('('); break;
    case l_square: brackets_.push_back('['); break;
    case l_brace: {
      const bool initialiser = previous_ == equal || previous_ == comma || previous_ == l_brace ||
                               previous_ == l_paren || previous_ == r_square || previous_ == kw_return ||
                               previous_ == identifier;
      brackets_.push_back(initialiser ? 'i' : '{');
      chain_ = 0;
      break;
    }
    case r_paren:
    case r_square:
      if (!brackets_.empty()) brackets_.pop_back();
      break;
    case r_brace:
      if (!brackets_.empty()) brackets_.pop_back();
      chain_ = 0;
      break;
    case semi:
      if (brackets_.empty() || brackets_.back() == '{' || brackets_.back() == 'i') chain_ = 0;
      break;
    case comma:
      if (!brackets_.empty() && brackets_.back() == 'i') chain_ = 0;
      break;
    case kw_else: ++elses_; break;
    default: break;
  }
  previous_ = token.getKind();
  if (chain_ > kLongestChain) fail(token, "a statement of the text is too long");
  if (elses_ > kMostElses) fail(token, "the text has too many 'else' branches");
  if (source_.is_cancelled()) fail(token, kCancelled);
  if (++tokens_ > kMostTokens) fail(token, "the text is too long once its macros are expanded");
}

void TokenLimiter::fail(const clang::Token& token, const char* message) {
  failed_ = true;
  auto& diagnostics = preprocessor_.getDiagnostics();
  const unsigned id = diagnostics.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Error, message);
  diagnostics.Report(token.getLocation(), id);
}

void InstantiationLimiter::atTemplateBegin(const clang::Sema& sema,
                                           const clang::Sema::CodeSynthesisContext& instantiation) {
  // Overload resolution substitutes very often and cheaply, so that only its memory is counted.
  if (instantiation.Kind == clang::Sema::CodeSynthesisContext::TemplateInstantiation) ++count_;
  const bool too_large = ++events_ % 1024 == 0 && sema.getASTContext().getASTAllocatedMemory() > kMostMemory;
  const bool is_cancelled = source_.is_cancelled();
  if (count_ <= kMost && !too_large && !is_cancelled) return;
  auto& diagnostics = sema.getDiagnostics();
  if (diagnostics.hasFatalErrorOccurred()) return;
  if (is_cancelled) {
    diagnostics.Report(diagnostics.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Fatal, kCancelled));
    return;
  }
  const unsigned id = diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Fatal,
                                                  "the text instantiates too many templates (%0, at most %1)");
  diagnostics.Report(instantiation.PointOfInstantiation, id) << count_ << kMost;
}

void limit_includes(clang::Preprocessor& preprocessor, const ProgramSource& source) {
  preprocessor.addPPCallbacks(std::make_unique<IncludeLimiter>(preprocessor, source));
}

void refuse_debug_pragma(clang::Preprocessor& preprocessor) {
  preprocessor.AddPragmaHandler("clang", new RefusedPragma("__debug"));  // replaces Clang's handler
}

}  // namespace iruka::cpu_backend
