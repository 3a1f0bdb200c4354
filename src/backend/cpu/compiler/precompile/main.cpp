// Build tool: writes the precompiled prelude to the file that its argument names.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "backend/cpu/compiler/frontend.h"

namespace iruka::cpu_backend {
std::string_view precompiled_prelude() { return {}; }
}  // namespace iruka::cpu_backend

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: iruka_precompile OUTPUT\n"), 2;
  std::vector<iruka::Diagnostic> diagnostics;
  const std::string header = iruka::cpu_backend::precompile_prelude(diagnostics);
  for (const auto& found : diagnostics) {
    std::fprintf(stderr, "%s:%d:%d: %s\n", found.file.c_str(), found.line, found.column, found.message.c_str());
  }
  std::ofstream output(arguments[1], std::ios::binary);
  output << header;
  output.close();
  // Ends without destructors; the system frees the compiler's caches.
  std::_Exit(header.empty() || !output ? 1 : 0);
}
