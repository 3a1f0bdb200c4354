#include "ops/elementwise/row_text.h"

#include <cmath>
#include <cstdio>

#include "ops/elementwise/cast_text.h"

namespace iruka::ops {
namespace {

/// A hexadecimal number, which is exact.
std::string float_text(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "(-NAN)" : "NAN";
  if (std::isinf(value)) return value < 0 ? "(-INFINITY)" : "INFINITY";
  char text[40];
  std::snprintf(text, sizeof text, "(%a)", value);
  return text;
}

}  // namespace

std::string input_text(const LoopTypes& types, size_t k, Dtype own, const std::string& argument) {
  const Dtype computing = computing_dtype(types.types[k]);
  return cast_text(types.types[k], computing, cast_text(own, types.types[k], argument));
}

std::string output_text(size_t k, Dtype from, Dtype to) {
  return cast_text(from, to, cast_text(computing_dtype(from), from, "out" + std::to_string(k)));
}

std::string operation_text(const ElementwiseFunction::Row& row, const LoopTypes& types, const std::vector<Dtype>& own,
                           const std::vector<std::string>& arguments, const std::vector<std::string>& results) {
  const Dtype computing = computing_dtype(types.loop);
  std::string text = std::string("{ using S = ") + info(types.loop).c_type + "; using T = " + info(computing).c_type +
                     "; using R = " + info(real_dtype(computing)).c_type + ";\n";
  for (size_t k = 0; k < arguments.size(); ++k)
    text += std::string("const ") + info(computing_dtype(types.types[k])).c_type + " in" + std::to_string(k) + " = " +
            input_text(types, k, own[k], arguments[k]) + ";\n";
  for (size_t k = 0; k < results.size(); ++k)
    text += std::string(info(computing_dtype(types.types[arguments.size() + k])).c_type) + " out" + std::to_string(k) +
            ";\n";
  text += row.body;
  for (size_t k = 0; k < results.size(); ++k) {
    const Dtype dtype = types.types[arguments.size() + k];
    text += "\n" + results[k] + " = " + output_text(k, dtype, dtype) + ";";
  }
  return text + " }\n";
}

std::string operation_preamble(const ElementwiseFunction::Row& row) {
  return (row.quiet == Quiet::no ? "" : helper_text("float_exceptions")) +
         (*row.helpers ? helper_text(row.helpers) : "");
}

std::string number_text(const Scalar& scalar, Dtype dtype) {
  check_literal_fits(scalar, dtype);
  alignas(16) std::byte element[16];
  scalar.store(dtype, element);
  const Scalar stored = Scalar::load(dtype, element);
  const std::string type = info(dtype).c_type;
  switch (kind(dtype)) {
    case Kind::boolean: return stored.as_bool() ? "true" : "false";
    case Kind::signed_integer:
      // The least int64 has no literal of its own.
      return "static_cast<" + type + ">(" + std::to_string(stored.as_int64() + (stored.as_int64() < 0)) + "ll" +
             (stored.as_int64() < 0 ? " - 1)" : ")");
    case Kind::unsigned_integer: return "static_cast<" + type + ">(" + stored.to_string() + "ull)";
    case Kind::complex: {
      const std::string part = info(real_dtype(dtype)).c_type;
      const std::complex<double> value = stored.as_complex();
      return type + "(static_cast<" + part + ">(" + float_text(value.real()) + "), static_cast<" + part + ">(" +
             float_text(value.imag()) + "))";
    }
    default: return "static_cast<" + type + ">(" + float_text(stored.as_double()) + ")";
  }
}

}  // namespace iruka::ops
