// LLVM IR to machine code.
#pragma once

#include <string>
#include <vector>

#include "jit/compile_options.h"
#include "core/device.h"

namespace llvm {
class Module;
}

namespace iruka::cpu_backend {

enum class Output { object, assembly };

struct GeneratedCode {
  std::string code;
  int lanes = 1;
  bool is_uncertain = false;  ///< so many may be slower than one
};

/// Optimises `module`, of which only the entry is kept visible, and emits it. Empty where `diagnostics` got an error. Where
/// `report` is not null it is told what became of the body, and no code is made.
GeneratedCode generate(llvm::Module& module, const ProgramSource& source, const jit::CompileOptions& options, Output output,
                     std::vector<Diagnostic>& diagnostics, LaneReport* report);

}  // namespace iruka::cpu_backend
