// C++ text to LLVM IR by Clang, without a file system.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "jit/compile_options.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace iruka::cpu_backend {

/// Parses prelude and text into unoptimised IR for this host. Null where `diagnostics` holds an error.
std::unique_ptr<llvm::Module> parse(const ProgramSource& source, const jit::CompileOptions& options,
                                    llvm::LLVMContext& context, std::vector<Diagnostic>& diagnostics);

/// Parses and checks types; the result says whether there was no error.
bool parse_only(const ProgramSource& source, const jit::CompileOptions& options, std::vector<Diagnostic>& diagnostics);

/// parse_only() of a source for a GPU. If it has no error, `saturating`, a copy of the source, gets casts that saturate
/// on a GPU.
bool rewrite_narrow_casts(const ProgramSource& source, const jit::CompileOptions& options,
                          std::vector<Diagnostic>& diagnostics, ProgramSource& saturating);

/// The prelude and the kernel code of ops/ for CPUs as a precompiled header, for any x86-64. Empty where it does not
/// compile.
std::string precompile_prelude(std::vector<Diagnostic>& diagnostics);

/// The result of precompile_prelude() when the library was built; empty in the program that generates it.
std::string_view precompiled_prelude();

}  // namespace iruka::cpu_backend
