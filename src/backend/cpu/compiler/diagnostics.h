// Clang's diagnostics as Iruka's.
#pragma once

#include <vector>

#include "clang/Basic/Diagnostic.h"
#include "core/device.h"

namespace iruka::cpu_backend {

/// Collects what Clang says, with file, line and column as #line directives give them. Keeps the first `kLimit`.
class DiagnosticCollector : public clang::DiagnosticConsumer {
 public:
  explicit DiagnosticCollector(std::vector<Diagnostic>& found) : found_(found) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

 private:
  static constexpr size_t kLimit = 64;
  std::vector<Diagnostic>& found_;
};

}  // namespace iruka::cpu_backend
