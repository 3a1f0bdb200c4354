#include "backend/cpu/compiler/diagnostics.h"

#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallString.h"

namespace iruka::cpu_backend {

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  clang::DiagnosticConsumer::HandleDiagnostic(level, info);
  if (level == clang::DiagnosticsEngine::Ignored || level == clang::DiagnosticsEngine::Remark) return;
  // An error is never dropped: without one, a failure would have no reason.
  if (found_.size() >= kLimit && (level < clang::DiagnosticsEngine::Error || found_.size() >= 2 * kLimit)) return;

  Diagnostic diagnostic{};
  diagnostic.level = level == clang::DiagnosticsEngine::Note      ? Diagnostic::Level::note
                     : level == clang::DiagnosticsEngine::Warning ? Diagnostic::Level::warning
                                                                  : Diagnostic::Level::error;
  llvm::SmallString<256> message;
  info.FormatDiagnostic(message);
  diagnostic.message = message.str().str();
  if (info.getLocation().isValid() && info.hasSourceManager()) {
    // A fault inside a macro is shown where the user wrote the macro's name.
    auto& manager = info.getSourceManager();
    const auto place = manager.getPresumedLoc(manager.getExpansionLoc(info.getLocation()));
    if (place.isValid()) {
      diagnostic.file = place.getFilename();
      diagnostic.line = static_cast<int>(place.getLine());
      diagnostic.column = static_cast<int>(place.getColumn());
    }
  }
  found_.push_back(std::move(diagnostic));
}

}  // namespace iruka::cpu_backend
