// Converts Clang's diagnostics to Iruka's.
#pragma once

#include <vector>

#include "clang/Basic/Diagnostic.h"
#include "core/device.h"
#include "jit/compile_options.h"

namespace iruka::cpu_backend {

/// Collects Clang's diagnostics, with file, line and column as #line directives define them. It keeps the first
/// `kLimit`, and only selected warnings.
class DiagnosticCollector : public clang::DiagnosticConsumer {
 public:
  DiagnosticCollector(std::vector<Diagnostic>& found, const jit::CompileOptions& options)
      : found_(found), options_(options) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

 private:
  static constexpr size_t kLimit = 64;
  std::vector<Diagnostic>& found_;
  const jit::CompileOptions& options_;
  bool follows_dropped_ = false;  ///< whether the last error or warning was dropped, whose notes are dropped, too
};

}  // namespace iruka::cpu_backend
