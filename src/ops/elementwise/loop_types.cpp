#include "ops/elementwise/loop_types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace iruka::ops {
namespace {

using Row = ElementwiseFunction::Row;

/// In the order of Dtype.
constexpr std::string_view kCharacters = "?bhilBHILeEfdFD";

const char* output_characters(const Row& row) { return std::strchr(row.signature, '>') + 1; }

bool takes_part(char character) { return character == 'T' || character == 'R'; }

Dtype argument_dtype(const Argument& argument) {
  return argument.is_array() ? argument.array().dtype() : argument.scalar().dtype();
}

/// NEP 50 over the arguments that `counts` picks. As in NumPy, each one meets one of the highest kind first: int16,
/// uint16 and float16 give float32.
template <class Counts>
Dtype common_dtype(std::span<const Argument> arguments, Counts counts) {
  std::optional<Dtype> highest, common;
  auto is_strong = [&](size_t k) { return counts(k) && (arguments[k].is_array() || !arguments[k].scalar().weak()); };
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (!is_strong(k)) continue;
    const Dtype dtype = argument_dtype(arguments[k]);
    if (!highest || kind(dtype) > kind(*highest)) highest = dtype;
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (!is_strong(k)) continue;
    const Dtype dtype = promote(*highest, argument_dtype(arguments[k]));
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

/// int64 with uint64: no dtype holds both, so each input keeps its dtype and the body compares them exactly.
bool crosses_signs(const Row& row, std::span<const Argument> inputs, Dtype common) {
  return row.rule == Rule::compare && common == Dtype::float64 && !is_inexact(argument_dtype(inputs[0])) &&
         !is_inexact(argument_dtype(inputs[1]));
}

/// The first loop that holds each input: int8 and uint8 may go to float16 together, though their sum goes to int16.
std::optional<Dtype> first_loop(const Row& row, std::span<const Argument> inputs, Dtype common) {
  if (row.rule == Rule::integers_as_float64 && !is_inexact(common)) return Dtype::float64;
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

[[noreturn]] void raise_no_loop(const Row& row) {
  throw TypeError(std::string("No loop matching the specified signature and casting was found for ufunc ") + row.name);
}

/// The dtypes that `rules` require of the arguments, in the order of the signature.
std::array<std::optional<Dtype>, kMaxArguments> wanted_dtypes(const Row& row, const CallRules& rules) {
  std::array<std::optional<Dtype>, kMaxArguments> wanted;
  const size_t inputs = static_cast<size_t>(input_count(row)), all = inputs + static_cast<size_t>(output_count(row));
  if (rules.signature.empty()) {
    for (size_t k = inputs; k < all; ++k) wanted[k] = rules.dtype;
    return wanted;
  }
  if (rules.dtype) throw TypeError("cannot specify both 'signature' and 'dtype'");
  if (rules.signature.size() != all)
    throw ValueError("a type-tuple must be specified of length " + std::to_string(all) + " for ufunc '" + row.name +
                     "'");
  std::copy(rules.signature.begin(), rules.signature.end(), wanted.begin());
  return wanted;
}

char character_of(const Row& row, size_t argument) {
  const size_t inputs = static_cast<size_t>(input_count(row));
  return argument < inputs ? row.signature[argument] : output_characters(row)[argument - inputs];
}

void check_inputs_cast(const Row& row, std::span<const Argument> inputs, const LoopTypes& types, Casting casting) {
  const auto is_literal = [](const Argument& input) {
    return !input.is_array() && input.scalar().weak() && input.scalar().kind() != Kind::boolean;
  };
  const bool only_literals = std::all_of(inputs.begin(), inputs.end(), is_literal);  // which count as int64 and float64
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Dtype from = argument_dtype(inputs[k]), to = types.types[k];
    const bool weak = is_literal(inputs[k]) && !only_literals;
    const bool exact = row.signature[k] == 'l' && casting == Casting::same_kind;
    const bool castable = exact ? holds(to, from) : can_cast(from, to, casting);
    if (row.signature[k] == '?' || castable || (weak && promote_weak(to, inputs[k].scalar()) == to)) continue;
    throw TypeError(std::string("Cannot cast ufunc '") + row.name + "' input " + std::to_string(k) + " from " +
                    quoted(from) + " to " + quoted(to) + " with casting rule '" + name(casting) + "'");
  }
}

}  // namespace

int input_count(const Row& row) { return static_cast<int>(std::strchr(row.signature, '-') - row.signature); }
int output_count(const Row& row) { return static_cast<int>(std::strlen(output_characters(row))); }

Dtype dtype_of_character(char character) {
  const size_t place = kCharacters.find(character);
  return place == kCharacters.npos ? Dtype::complex128 : static_cast<Dtype>(place);
}

char character_of_dtype(Dtype dtype) { return kCharacters[static_cast<size_t>(dtype)]; }

Dtype resolved_dtype(char character, Dtype loop) {
  if (character == 'T') return loop;
  return character == 'R' ? real_dtype(loop) : dtype_of_character(character);
}

std::optional<Dtype> forced_loop(const Row& row, std::span<const Argument> inputs, const CallRules& rules) {
  const bool only_loops_own = std::string_view(output_characters(row)).find_first_not_of('T') == std::string_view::npos;
  if (rules.signature.empty() && only_loops_own) {  // the usual case
    if (std::strchr(row.loops, character_of_dtype(*rules.dtype))) return rules.dtype;
    raise_no_loop(row);
  }
  const auto wanted = wanted_dtypes(row, rules);
  bool chooses = false;
  for (size_t k = 0; k < kMaxArguments; ++k) {
    if (!wanted[k]) continue;
    const char character = character_of(row, k);
    if (takes_part(character)) {
      chooses = true;
    } else if (*wanted[k] != dtype_of_character(character)) {
      raise_no_loop(row);
    }
  }
  if (!chooses) return {};
  const Dtype common = common_dtype(inputs, [&](size_t k) { return takes_part(row.signature[k]); });
  for (const char* loop = row.loops; *loop; ++loop) {  // real ones first
    const Dtype candidate = dtype_of_character(*loop);
    const bool loses_imaginary_part = is_complex(common) && !is_complex(candidate);
    bool matches = !(*output_characters(row) == 'R' && loses_imaginary_part && rules.signature.empty());
    for (size_t k = 0; k < kMaxArguments && matches; ++k)
      matches = !wanted[k] || resolved_dtype(character_of(row, k), candidate) == *wanted[k];
    if (matches) return candidate;
  }
  raise_no_loop(row);
}

LoopTypes loop_types(const Row& row, std::span<const Argument> inputs, std::optional<Dtype> forced, Casting casting) {
  const Dtype common = common_dtype(inputs, [&](size_t k) { return takes_part(row.signature[k]); });
  if (row.rule == Rule::refuse_bool && common == Dtype::bool_ && !forced) raise_bool(row);
  const std::optional<Dtype> loop = forced ? forced : first_loop(row, inputs, common);
  if (!loop) raise_unsupported(row, inputs);
  LoopTypes types;
  types.loop = *loop;
  size_t k = 0;
  for (; k < inputs.size(); ++k) types.types[k] = resolved_dtype(row.signature[k], types.loop);
  for (const char* outputs = output_characters(row); *outputs; ++outputs)
    types.types[k++] = resolved_dtype(*outputs, types.loop);
  if (!forced && crosses_signs(row, inputs, common)) {
    for (int side : {0, 1})
      types.types[side] = argument_dtype(inputs[side]) == Dtype::uint64 ? Dtype::uint64 : Dtype::int64;
  }
  check_inputs_cast(row, inputs, types, casting);
  return types;
}

void check_literal_fits(const Scalar& value, Dtype dtype) {
  if (!value.weak() || !is_integer(value.dtype()) || !is_integer(dtype) || value.fits(dtype)) return;
  throw OverflowError("Python integer " + value.to_string() + " out of bounds for " + name(dtype));
}

void check_element(const Scalar& value, Dtype dtype) {
  if (value.kind() == Kind::complex) {
    if (value.weak() && kind(dtype) != Kind::boolean && !is_complex(dtype))
      throw TypeError("cannot convert the complex number " + value.to_string() + " to " + name(dtype));
    return;
  }
  if (!is_integer(dtype) || (!value.weak() && kind(dtype) != Kind::signed_integer)) return;
  const auto refuse = [&](const std::string& what) {
    const std::string number = (value.weak() ? "Python " : "") + what + value.to_string();
    throw OverflowError(number + " out of bounds for " + name(dtype));
  };
  if (value.kind() != Kind::floating) {
    if (!value.fits(dtype)) refuse("integer ");
    return;
  }
  if (std::isnan(value.as_double())) throw ValueError("cannot convert float NaN to integer");
  if (std::isinf(value.as_double())) throw OverflowError("cannot convert float infinity to integer");
  const double whole = std::trunc(value.as_double());
  const bool is_signed = kind(dtype) == Kind::signed_integer;
  const double end = std::ldexp(1.0, static_cast<int>(itemsize(dtype)) * 8 - is_signed);
  if (whole >= end || whole < (is_signed ? -end : 0)) refuse("float ");
}

}  // namespace iruka::ops

namespace iruka {

Dtype result_type(std::span<const Argument> arguments) {
  if (arguments.empty()) throw ValueError("at least one array or dtype is required");
  // A Python integer decides the dtype by its value only if it is the only argument.
  std::vector<Argument> others(arguments.begin(), arguments.end());
  for (Argument& argument : others)
    if (others.size() > 1 && !argument.is_array() && argument.scalar().weak() && is_integer(argument.scalar().dtype()))
      argument = Argument(0);
  return ops::common_dtype(others, [](size_t) { return true; });
}

}  // namespace iruka
