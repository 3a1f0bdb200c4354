// What a user is warned of: some of Clang's warnings, and what Clang cannot know.
#pragma once

#include <string>
#include <vector>

#include "core/device.h"
#include "jit/compile_options.h"

namespace clang {
class CompilerInstance;
}

namespace iruka::cpu_backend {

/// Clang's groups to turn on; those of the options come behind, so that `-Wno-...` turns them off again.
std::vector<std::string> warning_flags(const jit::CompileOptions& options);

/// Whether a warning of `group` is passed on: nearly every one of these is a fault of the body.
bool is_told(const std::string& group, const jit::CompileOptions& options);

/// Adds warnings about the user's texts to what the compiler says: outputs that nothing writes, and subscripts of raw
/// arrays that mean another element than they seem to. To be called while the syntax tree lives.
void warn_about_texts(clang::CompilerInstance& compiler, const ProgramSource& source,
                      std::vector<Diagnostic>& diagnostics);

}  // namespace iruka::cpu_backend
