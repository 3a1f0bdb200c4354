// Functions and variables that a source names by C++ expressions, and their names in machine code.
#pragma once

#include <string>
#include <vector>

#include "core/device.h"

namespace llvm {
class Module;
}

namespace iruka::cpu_backend {

/// Declarations to put behind the source's text: a variable for each expression, whose value is the address.
std::string name_declarations(const ProgramSource& source);

/// Makes what the expressions name visible outside of `module`, and removes their variables. False after an error.
bool export_named(llvm::Module& module, const ProgramSource& source, NamePairs& names,
                  std::vector<Diagnostic>& diagnostics);

/// Errors in the declarations quote the expression in place of a line that no user wrote.
void quote_expressions(const ProgramSource& source, std::vector<Diagnostic>& diagnostics);

}  // namespace iruka::cpu_backend
