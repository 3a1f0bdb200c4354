// Warnings for users: some of Clang's, and some that Clang cannot give.
#pragma once

#include <string>
#include <vector>

#include "core/device.h"
#include "jit/compile_options.h"

namespace clang {
class CompilerInstance;
class SourceLocation;
class SourceManager;
}  // namespace clang

namespace iruka::cpu_backend {

/// Clang's groups to turn on; those of the options follow, so that `-Wno-...` turns them off again.
std::vector<std::string> warning_flags(const jit::CompileOptions& options);

/// Whether a warning of `group` is passed on; such warnings nearly always mean an error in the body.
bool is_told(const std::string& group, const jit::CompileOptions& options);

/// Whether a place lies in one of the user's texts, and not in generated text or a header.
bool is_users(const clang::SourceManager& manager, clang::SourceLocation location);

/// Adds warnings about the user's texts: outputs that are never written, and subscripts of raw arrays that select
/// another element than they seem to. Call it while the syntax tree exists.
void warn_about_texts(clang::CompilerInstance& compiler, const ProgramSource& source,
                      std::vector<Diagnostic>& diagnostics);

}  // namespace iruka::cpu_backend
