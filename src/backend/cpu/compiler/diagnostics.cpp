#include "backend/cpu/compiler/diagnostics.h"

#include "backend/cpu/compiler/text_warnings.h"
#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallString.h"

namespace iruka::cpu_backend {
namespace {

/// Clang reports a missing token at the end of a user's text in the generated line after it. Such an error's place
/// becomes the last character of the user's text; other places stay.
clang::SourceLocation end_of_text(clang::SourceManager& manager, clang::SourceLocation location) {
  const auto place = manager.getPresumedLoc(location);
  if (place.isInvalid() || place.getLine() != 1 || llvm::StringRef(place.getFilename()) != "generated") return location;
  const auto [file, offset] = manager.getDecomposedLoc(location);
  const llvm::StringRef before = manager.getBufferData(file).take_front(offset);
  const size_t directive = before.rfind("\n#line 1 \"generated\"");
  const size_t last = directive == before.npos ? before.npos : before.find_last_not_of(" \t\r\n", directive);
  if (last == before.npos) return location;
  const auto end = manager.getLocForStartOfFile(file).getLocWithOffset(static_cast<int>(last));
  const auto its_place = manager.getPresumedLoc(end);
  return its_place.isValid() && llvm::StringRef(its_place.getFilename()) != "generated" ? end : location;
}

}  // namespace

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  clang::DiagnosticConsumer::HandleDiagnostic(level, info);
  if (level == clang::DiagnosticsEngine::Ignored || level == clang::DiagnosticsEngine::Remark) return;
  std::string group;
  if (level == clang::DiagnosticsEngine::Warning)
    group = info.getDiags()->getDiagnosticIDs()->getWarningOptionForDiag(info.getID()).str();
  if (level != clang::DiagnosticsEngine::Note)
    follows_dropped_ = level == clang::DiagnosticsEngine::Warning && !is_told(group, options_);
  if (follows_dropped_) return;
  // An error is never dropped, because a failure without one would have no reason.
  if (found_.size() >= kLimit && (level < clang::DiagnosticsEngine::Error || found_.size() >= 2 * kLimit)) return;

  Diagnostic diagnostic{};
  diagnostic.level = level == clang::DiagnosticsEngine::Note      ? Diagnostic::Level::note
                     : level == clang::DiagnosticsEngine::Warning ? Diagnostic::Level::warning
                                                                  : Diagnostic::Level::error;
  llvm::SmallString<256> message;
  info.FormatDiagnostic(message);
  diagnostic.message = message.str().str() + (group.empty() ? "" : " [-W" + group + "]");
  if (info.getLocation().isValid() && info.hasSourceManager()) {
    // An error inside of a macro is shown where the macro is used.
    auto& manager = info.getSourceManager();
    const auto location = manager.getExpansionLoc(info.getLocation());
    const bool is_error =
        diagnostic.level == Diagnostic::Level::error;  // a note may be about the generated line itself
    const auto place = manager.getPresumedLoc(is_error ? end_of_text(manager, location) : location);
    if (place.isValid()) {
      diagnostic.file = place.getFilename();
      diagnostic.line = static_cast<int>(place.getLine());
      diagnostic.column = static_cast<int>(place.getColumn());
    }
  }
  found_.push_back(std::move(diagnostic));
}

}  // namespace iruka::cpu_backend
