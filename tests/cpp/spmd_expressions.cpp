// The expressions of random kernels.
#include "spmd_writer.h"

namespace iruka::testing {
namespace {

std::string cast(Dtype type, const std::string& text) { return "(" + c_type(type) + ")(" + text + ")"; }
std::string number(int value) { return std::to_string(value); }

constexpr const char* kFloatLiterals[] = {"0.5f",  "1.5f",     "2.0f",     "-0.25f",       "3.0f", "0.1f",
                                          "-1.0f", "7.25f",    "100.0f",   "1e-3f",        "0.0f", "-0.0f",
                                          "1e30f", "INFINITY", "65504.0f", "2147483648.0f"};
constexpr const char* kIntegerLiterals[] = {
    "1",    "2",     "3",          "5",       "7",       "10",        "-1",
    "-3",   "0",     "13",         "16",      "100",     "127",       "255",
    "-128", "32767", "0x5bd1e995", "INT_MIN", "INT_MAX", "LLONG_MIN", "0x9e3779b97f4a7c15ull"};

/// Results near 1 for arguments of any size, or exact ones: floats through a chain of these stay interesting.
constexpr const char* kUnary[] = {"sqrt(fabs(@))",
                                  "sin(@)",
                                  "cos(@)",
                                  "tanh(@)",
                                  "floor(@)",
                                  "ceil(@)",
                                  "rint(@)",
                                  "trunc(@)",
                                  "fabs(@)",
                                  "round(@)",
                                  "cbrt(@)",
                                  "atan(@)",
                                  "exp(-fabs(@))",
                                  "log(fabs(@) + 1)",
                                  "exp2(min(@, 4.0f))",
                                  "log2(fabs(@))",
                                  "erf(@)",
                                  "log1p(fabs(@))",
                                  "rsqrt(fabs(@) + 1)",
                                  "exp(@)",
                                  "log(@)",
                                  "sqrt(@)"};
/// -0 and +0 are distinguished only where the language defines the sign.
constexpr const char* kBinary[] = {"atan2(@, %)", "hypot(@, %)", "pow(fabs(@), min(fabs(%), 3.0f))", "fmod(@, %)",
                                   "fdim(@, %)",  "pow(@, %)",   "copysign(@, unless_nan(%))"};

/// `pattern` with @ and % replaced by operands.
std::string filled(std::string_view pattern, const std::string& first, const std::string& second = "") {
  std::string result;
  for (const char c : pattern) {
    if (c == '@')
      result += first;
    else if (c == '%')
      result += second;
    else
      result += c;
  }
  return result;
}

}  // namespace

Dtype Writer::any_type() {
  if (random_.chance(85)) return random_.pick(types_);
  return static_cast<Dtype>(random_.below(kDtypeCount));
}

Dtype Writer::float_type() {
  constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float32, Dtype::float32, Dtype::float64,
                               Dtype::float64, Dtype::float16, Dtype::bfloat16};
  for (int attempt = 0; attempt < 3; ++attempt)
    if (const Dtype type = random_.pick(types_); is_float(type)) return type;
  return random_.pick(kFloats);
}

Dtype Writer::integer_type() {
  constexpr Dtype kIntegers[] = {Dtype::int32, Dtype::int32,  Dtype::int64, Dtype::uint32, Dtype::uint8,
                                 Dtype::int16, Dtype::uint64, Dtype::int8,  Dtype::uint16};
  for (int attempt = 0; attempt < 3; ++attempt)
    if (const Dtype type = random_.pick(types_); is_integer(type)) return type;
  return random_.pick(kIntegers);
}

std::string Writer::converted(const std::string& text, Dtype from, Dtype to) {
  if (from == to) return text;
  if (is_complex(from) && to == Dtype::bool_) return "((" + text + ").real() != 0)";
  if (is_complex(from) && !is_complex(to)) return cast(to, "(" + text + ").real()");
  return cast(to, text);
}

const Variable* Writer::any_variable(bool writable, std::optional<Dtype> type) {
  const Variable* chosen = nullptr;
  int seen = 0;
  for (const Variable& variable : variables) {
    if ((writable && !variable.writable) || (type && variable.type != *type)) continue;
    if (random_.below(++seen) == 0) chosen = &variable;
  }
  return chosen;
}

std::string Writer::element(const LocalArray& array) {
  return array.name + "[" + index(array.length) + "]" + array.member;
}

std::string Writer::literal(Dtype type) {
  if (type == Dtype::bool_) return random_.chance(50) ? "true" : "false";
  const bool is_real = is_float(type) || is_complex(type);
  const int common =
      random_.chance(85) ? 10 : static_cast<int>(is_real ? std::size(kFloatLiterals) : std::size(kIntegerLiterals));
  const std::string text = is_real ? kFloatLiterals[random_.below(common)] : kIntegerLiterals[random_.below(common)];
  if (type == Dtype::float32 && text[0] != 'I') return text;
  return cast(type, text);
}

std::string Writer::leaf(Dtype type) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const int kind = random_.below(100);
    if (kind < 50) {
      if (const Variable* variable = any_variable(false, type)) return variable->text;
    } else if (kind < 65) {
      if (const Variable* variable = any_variable(false)) return converted(variable->text, variable->type, type);
    } else if (kind < 78) {
      if (arrays.empty()) continue;
      const LocalArray& array = random_.pick(arrays);
      return converted(element(array), array.type, type);
    } else if (kind < 92) {
      if (sources.empty()) continue;
      const auto& source = random_.pick(sources);
      return converted(source.second(), source.first, type);
    } else {
      return literal(type);
    }
  }
  return literal(type);
}

std::string Writer::value(Dtype type, int depth) {
  if (depth <= 0 || random_.chance(20)) return leaf(type);
  const int kind = random_.below(100);
  if (kind < 10) return choice(type, depth);
  if (kind < 18) {
    const Dtype from = any_type();
    return converted(value(from, depth - 1), from, type);
  }
  if (kind < 26 && !helpers.empty()) {
    const Helper& helper = random_.pick(helpers);
    if (!helper.changes) return converted(call(helper, 0, depth), helper.result, type);
  }
  if (type == Dtype::bool_) return condition(depth);
  if (is_integer(type)) return integer(type, depth);
  return is_float(type) ? floating(type, depth) : complex_number(type, depth);
}

std::string Writer::choice(Dtype type, int depth) {
  return "(" + condition(depth - 1) + " ? " + value(type, depth - 1) + " : " + value(type, depth - 1) + ")";
}

std::string Writer::call(const Helper& helper, size_t first, int depth) {
  std::string text;
  for (size_t k = first; k < helper.parameters.size(); ++k)
    text += (k > first ? ", " : "") + value(helper.parameters[k], depth - 1);
  return text.empty() || first > 0 ? text : helper.name + "(" + text + ")";
}

std::string Writer::integer(Dtype type, int depth) {
  constexpr const char* kOperators[] = {" + ", " - ", " * ", " & ", " | ", " ^ ", " + ", " - "};
  const std::string a = value(type, depth - 1);
  const int kind = random_.below(100);
  if (kind < 55) return cast(type, a + random_.pick(kOperators) + value(type, depth - 1));
  if (kind < 59) return cast(type, a + (random_.chance(50) ? " / " : " % ") + value(type, depth - 1));
  if (kind < 66) return cast(type, a + (random_.chance(50) ? " / " : " % ") + number(random_.between(2, 11)));
  if (kind < 78)
    return cast(
        type, a + (random_.chance(50) ? " << " : " >> ") + number(random_.below(static_cast<int>(itemsize(type)) * 8)));
  if (kind < 83) return cast(type, a + (random_.chance(50) ? " << " : " >> ") + value(integer_type(), depth - 1));
  if (kind < 88) return cast(type, (random_.chance(50) ? "-(" : "~(") + a + ")");
  if (kind < 94) return cast(type, (random_.chance(50) ? "min(" : "max(") + a + ", " + value(type, depth - 1) + ")");
  if (kind < 96) return cast(type, "abs(" + a + ")");
  constexpr const char* kBits[] = {"__popc((unsigned)(@))",
                                   "__clz((int)(@))",
                                   "__ffs((int)(@))",
                                   "__brev((unsigned)(@))",
                                   "__umulhi((unsigned)(@), 0x9e3779b9u)",
                                   "__popcll((unsigned long long)(@))",
                                   "__funnelshift_l((unsigned)(@), 0x12345u, (unsigned)(@))",
                                   "__clzll((long long)(@))"};
  return cast(type, filled(random_.pick(kBits), a));
}

std::string Writer::floating(Dtype type, int depth) {
  constexpr const char* kOperators[] = {" + ", " - ", " * "};
  const std::string a = value(type, depth - 1);
  const int kind = random_.below(100);
  if (kind < 50) return cast(type, a + random_.pick(kOperators) + value(type, depth - 1));
  if (kind < 60) return cast(type, a + " * " + value(type, depth - 1) + " + " + value(type, depth - 1));
  if (kind < 66) return cast(type, a + " / " + value(type, depth - 1));
  if (kind < 70) return cast(type, "fma(" + a + ", " + value(type, depth - 1) + ", " + literal(type) + ")");
  if (kind < 78) return cast(type, (random_.chance(50) ? "min(" : "max(") + a + ", " + value(type, depth - 1) + ")");
  if (kind < 82) return cast(type, "-(" + a + ")");
  if (kind < 95) return cast(type, filled(random_.pick(kUnary), a));
  return cast(type, filled(random_.pick(kBinary), a, cast(type, leaf(type))));
}

std::string Writer::complex_number(Dtype type, int depth) {
  constexpr const char* kOperators[] = {" + ", " - ", " * "};
  const Dtype part = real_dtype(type);
  const std::string a = value(type, depth - 1);
  const int kind = random_.below(100);
  if (kind < 50) return cast(type, a + random_.pick(kOperators) + value(type, depth - 1));
  if (kind < 62) return cast(type, a + random_.pick(kOperators) + value(part, depth - 1));
  if (kind < 68) return cast(type, a + " / " + value(type, depth - 1));
  if (kind < 84) return c_type(type) + "(" + value(part, depth - 1) + ", " + value(part, depth - 1) + ")";
  if (kind < 90) return cast(type, "conj(" + a + ")");
  if (kind < 94) return cast(type, "abs(" + a + ")");
  return cast(type, "norm(" + a + ")");
}

std::string Writer::comparison(int depth) {
  constexpr const char* kOrders[] = {" < ", " > ", " <= ", " >= ", " == ", " != "};
  const Dtype type = any_type();
  if (type == Dtype::bool_) return leaf(type);
  const int kinds = random_.chance(85) ? 4 : 6;
  return "(" + value(type, depth - 1) + kOrders[random_.below(kinds)] + value(type, depth - 1) + ")";
}

std::string Writer::condition(int depth) {
  const int kind = random_.below(100);
  if (depth > 0 && kind < 10)
    return "(" + condition(depth - 1) + (random_.chance(50) ? " && " : " || ") + condition(depth - 1) + ")";
  if (depth > 0 && kind < 18 && !guards.empty()) return random_.pick(guards)();
  if (depth > 0 && kind < 26 && !arrays.empty()) {
    const LocalArray& array = random_.pick(arrays);
    const std::string at = cast(Dtype::uint32, value(integer_type(), depth - 1));
    if (array.member.empty() && !is_complex(array.type) && at.size() < 60)
      return "(" + at + " < " + number(array.length) + "u && " + array.name + "[" + at + "] > " + literal(array.type) +
             ")";
  }
  if (kind < 40) return "(" + small_integer(5) + " < " + number(random_.between(1, 3)) + ")";
  if (kind < 45) return "!" + condition(depth - 1);
  if (kind < 50) return std::string(random_.chance(50) ? "isnan(" : "isfinite(") + leaf(float_type()) + ")";
  return comparison(depth);
}

/// An int that is different from lane to lane, in [0, limit).
std::string Writer::small_integer(int limit) {
  const Dtype type = integer_type();
  const std::string plain = value(type, random_.chance(40) ? 1 : 0);
  const std::string mixed = random_.chance(30) ? "(uint32_t)(" + plain + ") * 2654435761u >> 16" : plain;
  if (in_body && random_.chance(15))
    return "(int)((i * " + number(random_.between(1, 7)) + " + " + number(random_.below(9)) + ") % " + number(limit) +
           ")";
  return "(int)((uint32_t)(" + mixed + ") % " + number(limit) + "u)";
}

std::string Writer::index(int length) {
  if (random_.chance(25)) return number(random_.below(length));
  if (random_.chance(50))
    for (int attempt = 0; attempt < 3; ++attempt)
      if (const Variable* variable = any_variable(false); variable && variable->below > 0 && variable->below <= length)
        return variable->text;
  return small_integer(length);
}

}  // namespace iruka::testing
