// LLVM IR to machine code.
#pragma once

#include <string>
#include <vector>

#include "backend/cpu/compiler/container.h"
#include "core/device.h"
#include "jit/compile_options.h"

namespace llvm {
class Module;
}

namespace iruka::cpu_backend {

enum class Output { object, assembly };

struct GeneratedCode {
  std::string code;
  int lanes = 1;
  int rival_lanes = 0;  ///< a number that may be faster
  BlockProperties block = {};
};

/// Optimises `module`, of which only the entry and the exports are kept visible, and emits it. The result is empty if
/// an error was added to `diagnostics`. If `report` is not null, it receives the outcome of vectorisation, and no
/// object code is generated.
GeneratedCode generate(llvm::Module& module, const ProgramSource& source, const jit::CompileOptions& options,
                       Output output, std::vector<Diagnostic>& diagnostics, LaneReport* report);

}  // namespace iruka::cpu_backend
