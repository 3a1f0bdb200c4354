// Compiles a text against the prelude and runs it over pointers.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backend/cpu/compiler/compiler.h"

namespace iruka::test {

/// Compiles `text`, which defines iruka_entry, and links it. A text that does not compile fails the test.
inline std::unique_ptr<cpu_backend::LinkedObject> build_text(const std::string& text) {
  const CompiledProgram program = cpu_backend::compile({text, "iruka_entry", {}, "<test>"});
  for (const auto& d : program.diagnostics) {
    if (d.level == Diagnostic::Level::error)
      ADD_FAILURE() << d.file << ":" << d.line << ": " << d.message << "\n" << text;
  }
  if (!program.ok) return nullptr;
  return std::make_unique<cpu_backend::LinkedObject>(program.code);
}

/// Runs `body` with element index `i` from 0 to `count`. `pointers` are seen under their declarations, in order:
/// {"const float* x", "double* z"}. `preamble` goes before the entry function.
inline void run_body(const std::string& preamble, const std::vector<std::string>& declarations, const std::string& body,
                     const std::vector<const void*>& pointers, int64_t count) {
  std::string text =
      preamble + "\nextern \"C\" void iruka_entry(const unsigned char* arguments, ptrdiff_t begin, ptrdiff_t end) {\n";
  for (size_t k = 0; k < declarations.size(); ++k) {
    const auto star = declarations[k].rfind('*');
    text += "  " + declarations[k] + " = ((" + declarations[k].substr(0, star + 1) + " const*)arguments)[" +
            std::to_string(k) + "];\n";
  }
  text += "  for (ptrdiff_t i = begin; i < end; ++i) {\n" + body + "\n  }\n}\n";
  const auto linked = build_text(text);
  ASSERT_TRUE(linked);
  linked->symbols().front().function()(pointers.data(), 0, count);
}

template <class To, class From>
To bits_of(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &value, sizeof(to));
  return to;
}

/// The distance of `got` from `want` in units of want's last place in T; 0 where both are NaN or the same infinity.
template <class T>
double ulp_error(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  const T rounded = static_cast<T>(want);
  if (got == rounded) return 0;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return INFINITY;
  const T magnitude = std::max(std::fabs(rounded), std::numeric_limits<T>::min());
  int exponent;
  std::frexp(magnitude, &exponent);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(got - want) / unit);
}

/// IEEE-like 16-bit floats, bit by bit, from a long double: nearest even. For binary16 exponent_bits = 5, bfloat16 8.
inline uint16_t reference_narrow(long double value, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | infinity | static_cast<uint16_t>(1 << (fraction_bits - 1));
  if (std::isinf(value)) return sign | infinity;
  int exponent = magnitude == 0 ? 1 - bias : std::ilogb(magnitude);
  if (exponent < 1 - bias) exponent = 1 - bias;
  // The significand counted in units of the last place, rounded to nearest even by nearbyint.
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
  // A subnormal has field 0; adding lets a carry raise the exponent.
  const uint32_t field = static_cast<uint32_t>(exponent + bias - 1) << fraction_bits;
  const uint32_t all = field + units;
  return sign | static_cast<uint16_t>(all >= infinity ? infinity : all);
}

inline long double reference_widen(uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1), fraction = bits & ((1 << fraction_bits) - 1);
  long double magnitude;
  if (exponent == (1 << exponent_bits) - 1)
    magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<long double>(fraction), 1 - bias - fraction_bits);
  else
    magnitude = std::ldexp(static_cast<long double>(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace iruka::test
