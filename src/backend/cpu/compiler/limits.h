// Keeps texts with very deep nesting or endless expansion from exhausting Clang's stack, memory and time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clang/Sema/TemplateInstCallback.h"
#include "core/device.h"

namespace clang {
class Preprocessor;
class Token;
}  // namespace clang

namespace iruka::cpu_backend {

/// Bytes of a text, and of a header.
inline constexpr size_t kLargestText = size_t{4} << 20, kLargestHeader = size_t{64} << 20;

/// Checks a text before Clang parses it (size, nested brackets, length of directives). The result is the error, or
/// empty.
std::string text_limit_error(std::string_view text, size_t largest);

/// Watches the tokens that the parser gets. Clang limits brackets itself, but not chains such as !!!!x, a ? b : c ? d :
/// e or `if (a) if (b)`, each link of which takes stack. At a limit, or once the caller has stopped waiting, it reports
/// an error and ends the file.
class TokenLimiter {
 public:
  TokenLimiter(clang::Preprocessor& preprocessor, const ProgramSource& source)
      : preprocessor_(preprocessor), source_(source) {}
  void operator()(const clang::Token& token);

 private:
  static constexpr int kLongestChain = 5000;     ///< tokens of one statement
  static constexpr int kMostElses = 5000;        ///< of one text: else if (...) nests
  static constexpr int kMostTokens = 2'000'000;  ///< macros can multiply

  void count(const clang::Token& token);
  void fail(const clang::Token& token, const char* message);

  clang::Preprocessor& preprocessor_;
  const ProgramSource& source_;
  std::vector<char> brackets_;  ///< '(' '[' '{' and 'i' for the brace of an initialiser
  unsigned short previous_ = 0;
  int chain_ = 0, elses_ = 0, tokens_ = 0;
  bool failed_ = false;
};

/// Ends a compilation by a fatal error when templates multiply (each may instantiate two more to a depth of 200), or
/// once the caller has stopped waiting.
class InstantiationLimiter : public clang::TemplateInstantiationCallback {
 public:
  explicit InstantiationLimiter(const ProgramSource& source) : source_(source) {}
  void initialize(const clang::Sema&) override {}
  void finalize(const clang::Sema&) override {}
  void atTemplateBegin(const clang::Sema& sema, const clang::Sema::CodeSynthesisContext& instantiation) override;
  void atTemplateEnd(const clang::Sema&, const clang::Sema::CodeSynthesisContext&) override {}

 private:
  static constexpr int kMost = 50'000;
  static constexpr size_t kMostMemory = size_t{512} << 20;  ///< of the syntax tree, in bytes
  const ProgramSource& source_;
  int count_ = 0;
  unsigned events_ = 0;
};

/// Reports an error and ends every further file when headers that include each other multiply, or once the caller has
/// stopped waiting: empty files give the token limiter nothing to count.
void limit_includes(clang::Preprocessor& preprocessor, const ProgramSource& source);

/// `#pragma clang __debug` makes the compiler crash or print; this makes it an error.
void refuse_debug_pragma(clang::Preprocessor& preprocessor);

}  // namespace iruka::cpu_backend
