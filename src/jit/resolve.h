// Derives the device, and a dtype for each parameter, from the arguments of a call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/emit.h"

namespace iruka::jit {

/// For each parameter the number of its placeholder letter, in order of appearance; -1 for a concrete type.
struct Placeholders {
  std::vector<int> slots;
  int count = 0;
};
Placeholders placeholders_of(const KernelText& text);

/// "kernel 'blur': parameter 'x': ", the beginning of error messages.
std::string parameter_prefix(const KernelText& text, size_t k);

/// Raises TypeError unless the inputs, or inputs and outputs, are given, outputs and arrays as such; ShapeError for an
/// array by value of another size.
void check_arguments(const KernelText& text, std::span<const Argument> arguments);

/// The device of all arrays but those by value; the default device if there are none. Raises ValueError for two
/// devices.
Device& resolve_device(const KernelText& text, std::span<const Argument> arguments);

/// Raises ValueError for a stream of another device than that of the arrays.
void check_stream(const KernelText& text, const Stream& stream, const Device& device);

/// The dtype of a placeholder comes from given outputs, else arrays left to right, typed scalars, literals. Writes
/// a dtype for each parameter. Raises TypeError for an array of another dtype, and a placeholder without an argument.
void resolve_types(const KernelText& text, const Placeholders& placeholders, std::span<const Argument> arguments,
                   Dtype* dtypes);

/// The shape of the loop: that of the plain arrays together, or `size` if all are raw. Raises ValueError for a length
/// that is unknown, negative or given twice, ShapeError for arrays that do not broadcast together.
Dims resolve_shape(const KernelText& text, std::span<const Argument> arguments, std::optional<int64_t> size);

}  // namespace iruka::jit
