// Finds the casts of floats to integers of 8 and 16 bits in a text for a GPU, and rewrites them so that they saturate.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/device.h"

namespace clang {
class ASTConsumer;
class CompilerInstance;
}  // namespace clang

namespace iruka::cpu_backend {

/// In front of a text for a GPU: declares NVRTC's built-in names that the CPU's prelude lacks.
inline constexpr std::string_view kCudaDeclarations = "#include \"cpu_cuda_declarations.h\"\n";

/// Once the main file is parsed without an error, the text of `source` is what follows its first `skipped` bytes, where
/// each such cast, plain or implied, is written with functions of prelude/narrowing.h; so are those in its headers.
/// What is spelled in a macro of these files is changed in that macro; what is spelled elsewhere stays. `source` lives
/// as long as the compiler.
std::unique_ptr<clang::ASTConsumer> make_cast_rewriter(clang::CompilerInstance& compiler, size_t skipped,
                                                       ProgramSource& source);

}  // namespace iruka::cpu_backend
