// Clang's diagnostics as Iruka's.
#pragma once

#include <vector>

#include "clang/Basic/Diagnostic.h"
#include "core/device.h"
#include "jit/compile_options.h"

namespace iruka::cpu_backend {

/// Collects what Clang says, with file, line and column as #line directives give them. Keeps the first `kLimit`, and of
/// the warnings those that are worth telling.
class DiagnosticCollector : public clang::DiagnosticConsumer {
 public:
  DiagnosticCollector(std::vector<Diagnostic>& found, const jit::CompileOptions& options)
      : found_(found), options_(options) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

 private:
  static constexpr size_t kLimit = 64;
  std::vector<Diagnostic>& found_;
  const jit::CompileOptions& options_;
  bool follows_dropped_ = false;  ///< notes go with what they belong to
};

}  // namespace iruka::cpu_backend
