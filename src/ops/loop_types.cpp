#include "ops/loop_types.h"

#include <cstring>
#include <string>

namespace iruka::ops {
namespace {

using Row = ElementwiseFunction::Row;

Dtype dtype_of_character(char character) {
  switch (character) {
    case '?':
      return Dtype::bool_;
    case 'b':
      return Dtype::int8;
    case 'h':
      return Dtype::int16;
    case 'i':
      return Dtype::int32;
    case 'l':
      return Dtype::int64;
    case 'B':
      return Dtype::uint8;
    case 'H':
      return Dtype::uint16;
    case 'I':
      return Dtype::uint32;
    case 'L':
      return Dtype::uint64;
    case 'e':
      return Dtype::float16;
    case 'E':
      return Dtype::bfloat16;
    case 'f':
      return Dtype::float32;
    case 'd':
      return Dtype::float64;
    case 'F':
      return Dtype::complex64;
    default:
      return Dtype::complex128;
  }
}

Dtype settled(char character, Dtype loop) {
  if (character == 'T') return loop;
  return character == 'R' ? real_dtype(loop) : dtype_of_character(character);
}

const char* output_characters(const Row& row) { return std::strchr(row.signature, '>') + 1; }

bool takes_part(char character) { return character == 'T' || character == 'R'; }

Dtype argument_dtype(const Argument& argument) {
  return argument.is_array() ? argument.array().dtype() : argument.scalar().dtype();
}

/// NEP 50 over the arguments that `counts` picks.
template <class Counts>
Dtype common_dtype(std::span<const Argument> arguments, Counts counts) {
  std::optional<Dtype> common;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const Argument& argument = arguments[k];
    if (!counts(k) || (!argument.is_array() && argument.scalar().weak())) continue;
    const Dtype dtype = argument_dtype(argument);
    common = common ? promote(*common, dtype) : dtype;
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    const Argument& argument = arguments[k];
    if (!counts(k) || argument.is_array() || !argument.scalar().weak()) continue;
    common = common ? promote_weak(*common, argument.scalar()) : argument.scalar().dtype();
  }
  return common.value_or(Dtype::bool_);
}

bool holds(Dtype to, Dtype from) { return promote(to, from) == to; }

std::string quoted(Dtype dtype) { return std::string("dtype('") + name(dtype) + "')"; }

[[noreturn]] void raise_unsupported(const Row& row, std::span<const Argument> inputs) {
  std::string types;
  for (const Argument& input : inputs) types += (types.empty() ? "" : ", ") + std::string(name(argument_dtype(input)));
  throw TypeError(std::string("ufunc '") + row.name + "' not supported for the input types (" + types +
                  "), and the inputs could not be safely coerced to any supported types according to the casting rule "
                  "'safe'");
}

[[noreturn]] void raise_bool(const Row& row) {
  const std::string_view row_name = row.name;
  if (row_name == "subtract")
    throw TypeError(
        "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
        "operator, or the logical_xor function instead.");
  if (row_name == "negative")
    throw TypeError(
        "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the "
        "logical_not function instead.");
  throw TypeError(std::string("ufunc '") + row.name + "' did not contain a loop with signature matching types bool");
}

bool is_integral(Dtype dtype) { return is_integer(dtype) || dtype == Dtype::bool_; }

/// int64 beside uint64: no dtype holds both, so each input keeps its own and the body compares across.
bool crosses_signs(const Row& row, std::span<const Argument> inputs, Dtype common) {
  return row.rule == Rule::compare && common == Dtype::float64 && is_integral(argument_dtype(inputs[0])) &&
         is_integral(argument_dtype(inputs[1]));
}

/// The first loop that holds each input: int8 and uint8 may go to float16 together, though their sum goes to int16.
std::optional<Dtype> first_loop(const Row& row, std::span<const Argument> inputs, Dtype common) {
  if (row.rule == Rule::integers_as_float64 && is_integral(common)) return Dtype::float64;
  auto holds_inputs = [&](Dtype loop) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (!takes_part(row.signature[k])) continue;
      const bool weak = !inputs[k].is_array() && inputs[k].scalar().weak();
      if (!holds(loop, weak ? common : argument_dtype(inputs[k]))) return false;
    }
    return true;
  };
  for (const char* loop = row.loops; *loop; ++loop)
    if (holds_inputs(dtype_of_character(*loop))) return dtype_of_character(*loop);
  return {};
}

/// The loop whose first output is `dtype`, real ones first.
Dtype forced_loop(const Row& row, Dtype common, Dtype dtype) {
  const char output = *output_characters(row);
  for (const char* loop = row.loops; *loop; ++loop) {
    const Dtype candidate = dtype_of_character(*loop);
    const bool loses_imaginary_part = kind(common) == Kind::complex && kind(candidate) != Kind::complex;
    if (settled(output, candidate) == dtype && !(output == 'R' && loses_imaginary_part)) return candidate;
  }
  throw TypeError(std::string("No loop matching the specified signature and casting was found for ufunc ") + row.name);
}

void check_inputs_cast(const Row& row, std::span<const Argument> inputs, const LoopTypes& types) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Dtype from = argument_dtype(inputs[k]), to = types.types[k];
    const bool weak = !inputs[k].is_array() && inputs[k].scalar().weak();
    const bool castable = row.signature[k] == 'l' ? holds(to, from) : can_cast_same_kind(from, to);
    if (row.signature[k] == '?' || castable || (weak && promote_weak(to, inputs[k].scalar()) == to)) continue;
    throw TypeError(std::string("Cannot cast ufunc '") + row.name + "' input " + std::to_string(k) + " from " +
                    quoted(from) + " to " + quoted(to) + " with casting rule 'same_kind'");
  }
}

}  // namespace

int input_count(const Row& row) { return static_cast<int>(std::strchr(row.signature, '-') - row.signature); }
int output_count(const Row& row) { return static_cast<int>(std::strlen(output_characters(row))); }

LoopTypes loop_types(const Row& row, std::span<const Argument> inputs, std::optional<Dtype> dtype) {
  const Dtype common = common_dtype(inputs, [&](size_t k) { return takes_part(row.signature[k]); });
  if (row.rule == Rule::refuse_bool && common == Dtype::bool_) raise_bool(row);
  LoopTypes types;
  const char* outputs = output_characters(row);
  if (dtype && *outputs != '?') {
    types.loop = forced_loop(row, common, *dtype);
  } else if (dtype && *dtype != Dtype::bool_) {
    throw TypeError(std::string("No loop matching the specified signature and casting was found for ufunc ") +
                    row.name);
  } else {
    const std::optional<Dtype> loop = first_loop(row, inputs, common);
    if (!loop) raise_unsupported(row, inputs);
    types.loop = *loop;
  }
  size_t k = 0;
  for (; k < inputs.size(); ++k) types.types[k] = settled(row.signature[k], types.loop);
  for (; *outputs; ++outputs) types.types[k++] = settled(*outputs, types.loop);
  if (crosses_signs(row, inputs, common)) {
    for (int side : {0, 1})
      types.types[side] = argument_dtype(inputs[side]) == Dtype::uint64 ? Dtype::uint64 : Dtype::int64;
  }
  check_inputs_cast(row, inputs, types);
  return types;
}

void check_literal_fits(const Scalar& value, Dtype dtype) {
  if (!value.weak() || !is_integer(value.dtype()) || !is_integer(dtype) || value.fits(dtype)) return;
  throw OverflowError("Python integer " + value.to_string() + " out of bounds for " + name(dtype));
}

}  // namespace iruka::ops

namespace iruka {

Dtype result_type(std::span<const Argument> arguments) {
  if (arguments.empty()) throw ValueError("at least one array or dtype is required");
  return ops::common_dtype(arguments, [](size_t) { return true; });
}

}  // namespace iruka
