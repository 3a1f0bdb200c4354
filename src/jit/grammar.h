// The parameter list of a kernel: "raw float32 image, T y".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iruka/kernel.h"

namespace iruka::jit {

/// Most parameters a kernel may have, inputs and outputs together.
inline constexpr int kMaxParameters = 200;

/// Parses `[raw] [const|_non_const] TYPE NAME, ...` and `TYPE NAME[EXTENT]`; an empty text is an empty list.
/// Raises ValueError naming `kernel` and the parameter for bad syntax or a reserved name, TypeError for an unknown
/// dtype. `kind` is the class that the errors name, here and below.
std::vector<Parameter> parse_parameters(const std::string& kernel, std::string_view text, bool is_output,
                                        const char* kind = "ElementwiseKernel");

/// Whether `name` is an identifier of C++ in ASCII, and no keyword.
bool is_identifier(std::string_view name);

/// Raises ValueError unless `name` is a C identifier that is no keyword.
void check_kernel_name(const std::string& name, const char* kind = "ElementwiseKernel");

/// Raises ValueError when two parameters share a name.
void check_names_differ(const std::string& kernel, const std::vector<Parameter>& inputs,
                        const std::vector<Parameter>& outputs, const char* kind = "ElementwiseKernel");

/// The end of the comment, string or character literal that begins at `at`; `at` itself if none does.
size_t skip_unseen(std::string_view text, size_t at);

/// `text` with '?' in place of each byte that is not part of UTF-8.
std::string as_utf8(std::string text);

/// Whether `text` uses the identifier `word` outside comments, strings and character literals.
bool mentions(std::string_view text, std::string_view word);

/// Whether `text` calls a function: an identifier before a parenthesis that is neither a keyword nor a number type.
bool has_calls(std::string_view text);

/// Whether `text` may use an integer type of 8 or 16 bits: false only if it certainly does not.
bool may_name_narrow_types(std::string_view text);

/// Whether `text` calls pow, powf or a similar function with an exponent that is not a literal. The compiler turns
/// powers with a known exponent into products, which may differ in the last bit.
bool has_open_power(std::string_view text);

}  // namespace iruka::jit
