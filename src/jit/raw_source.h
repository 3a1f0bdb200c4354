// The texts of raw kernels: what a compiler is given around the user's code.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"

namespace iruka::jit {

enum class CodeKind : uint8_t { cuda, ptx, machine };
/// By the first bytes of machine code, and the directives of PTX.
CodeKind kind_of_code(std::string_view code);

/// The functions without template parameters that `code` declares with `__global__` outside of namespaces and classes.
/// It does not evaluate conditions, and finds no functions that macros declare.
std::vector<std::string> kernels_in(std::string_view code);

/// The parameters of the kernel that `name` names, which may have template arguments, as `code` declares them: "const
/// float* x, int n". No value where they are not found.
std::optional<std::string> parameters_in(std::string_view code, std::string_view name);

/// Whether `code` declares variables with `__device__`, `__constant__` or `__managed__`, as far as can be told without
/// a compiler: false only if it certainly does not.
bool may_have_variables(std::string_view code);

/// Compiler options, of which macros are text: they are defined in front of the user's code, but behind Iruka's
/// headers.
struct SplitOptions {
  std::string macros;
  std::vector<std::string> others;
};
SplitOptions split_options(const std::vector<std::string>& options);

/// The names by which diagnostics call the user's code and the names that the user asks for, one a line.
inline constexpr const char *kCodeFile = "code", *kNamesFile = "name";

/// The code, with a type for the signature of each name: name expression signature_expression(k).
std::string module_text(std::string_view code, std::string_view macros, std::span<const std::string> names);
/// The same for one kernel, or for none, with the loop that runs its blocks of so many threads on the CPU.
std::string block_text(std::string_view code, std::string_view macros, std::span<const std::string> names,
                       const Dim3& threads);
std::string signature_expression(size_t k);
/// The function that block_text() defines.
inline constexpr const char* kBlocksEntry = "iruka_blocks";

}  // namespace iruka::jit
