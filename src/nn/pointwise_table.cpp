#include "nn/pointwise_table.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "core/once.h"
#include "nn/files/input.h"
#include "nn/files/onnx_tensor.h"
#include "nn/fusion.h"

namespace iruka::nn {
namespace {

std::string text_attribute(const Node& node, const char* name, const char* otherwise) {
  const auto* text = find_attribute<std::string>(node, name);
  return text ? *text : otherwise;
}
int64_t integer_attribute(const Node& node, const char* name, int64_t otherwise) {
  const auto* integer = find_attribute<int64_t>(node, name);
  return integer ? *integer : otherwise;
}

const char* gelu_text(const Node& node) {
  return text_attribute(node, "approximate", "none") == "tanh" ? "gelu_tanh($0)" : "gelu($0)";
}
const char* mod_text(const Node& node) {
  return integer_attribute(node, "fmod", 0) ? "truncated_remainder($0, $1)" : "floored_remainder($0, $1)";
}
const char* shift_text(const Node& node) {
  return text_attribute(node, "direction", "") == "LEFT" ? "shifted_left($0, $1)" : "shifted_right($0, $1)";
}
/// Bounds are attributes before version 11, where they always exist, and inputs since.
const char* clip_text(const Node& node) {
  if (node.attributes.contains("min") || node.attributes.contains("max")) return "minimum(maximum($0, @min), @max)";
  const bool has_least = node.inputs.size() > 1 && !node.inputs[1].empty();
  const bool has_most = node.inputs.size() > 2 && !node.inputs[2].empty();
  if (has_least && has_most) return "minimum(maximum($0, $1), $2)";
  return has_least ? "maximum($0, $1)" : has_most ? "minimum($0, $2)" : "$0";
}
const char* infinite_text(const Node& node) {
  const bool negative = integer_attribute(node, "detect_negative", 1),
             positive = integer_attribute(node, "detect_positive", 1);
  return negative ? (positive ? "is_infinite($0, true, true)" : "is_infinite($0, true, false)")
                  : (positive ? "is_infinite($0, false, true)" : "is_infinite($0, false, false)");
}
const char* cast_text(const Node& node) {
  return onnx_dtype(static_cast<int32_t>(integer_attribute(node, "to", 0))) ? "$0" : nullptr;
}

constexpr auto kLow = PointwiseCost::low, kModerate = PointwiseCost::moderate, kHigh = PointwiseCost::high;
constexpr auto kFirst = PointwiseResult::first, kSecond = PointwiseResult::second, kBool = PointwiseResult::boolean;

const PointwiseRow kRows[] = {
    {"Abs", "abs($0)", kLow},
    {"Acos", "acos($0)", kHigh},
    {"Acosh", "acosh($0)", kHigh},
    {"Add", "wrapping_add($0, $1)", kLow},
    {"And", "$0 && $1", kModerate, kBool},
    {"Asin", "asin($0)", kHigh},
    {"Asinh", "asinh($0)", kHigh},
    {"Atan", "atan($0)", kHigh},
    {"Atanh", "atanh($0)", kHigh},
    {"BitShift", "", kModerate, kFirst, "", false, false, shift_text},
    {"BitwiseAnd", "$0 & $1"},
    {"BitwiseNot", "~$0"},
    {"BitwiseOr", "$0 | $1"},
    {"BitwiseXor", "$0 ^ $1"},
    {"Cast", "", kModerate, PointwiseResult::cast, "", false, false, cast_text},
    {"Ceil", "ceil($0)"},
    {"Celu", "celu($0, @alpha)", kHigh, kFirst, "alpha=1"},
    {"Clip", "", kLow, kFirst, "min=-3.4028234663852886e+38 max=3.4028234663852886e+38", false, false, clip_text},
    {"Cos", "cos($0)", kHigh},
    {"Cosh", "cosh($0)", kHigh},
    {"Div", "$0 / $1"},
    {"Elu", "elu($0, @alpha)", kHigh, kFirst, "alpha=1"},
    {"Equal", "$0 == $1", kModerate, kBool},
    {"Erf", "layer_erf($0)", kHigh},
    {"Exp", "exp($0)", kHigh},
    {"Expm1", "expm1($0)", kHigh},
    {"Floor", "floor($0)"},
    {"Gelu", "", kHigh, kFirst, "", false, false, gelu_text},
    {"Greater", "$0 > $1", kModerate, kBool},
    {"GreaterOrEqual", "$0 >= $1", kModerate, kBool},
    {"HardSigmoid", "hard_sigmoid($0, @alpha, @beta)", kLow, kFirst, "alpha=0.2 beta=0.5"},
    {"HardSwish", "hard_swish($0)", kLow},
    {"Identity", "$0"},
    {"IsInf", "", kModerate, kBool, "", false, false, infinite_text},
    {"IsNaN", "is_nan($0)", kModerate, kBool},
    {"LeakyRelu", "leaky_relu($0, @alpha)", kLow, kFirst, "alpha=0.01"},
    {"Less", "$0 < $1", kModerate, kBool},
    {"LessOrEqual", "$0 <= $1", kModerate, kBool},
    {"Log", "log($0)", kHigh},
    {"Log1p", "log1p($0)", kHigh},
    {"Max", "maximum($0, $1)", kLow, kFirst, "", true},
    {"Mean", "wrapping_add($0, $1)", kModerate, kFirst, "", true},
    {"Min", "minimum($0, $1)", kLow, kFirst, "", true},
    {"Mish", "mish($0)", kHigh},
    {"Mod", "", kHigh, kFirst, "", false, false, mod_text},
    {"Mul", "wrapping_multiply($0, $1)", kLow},
    {"Neg", "wrapping_negate($0)", kLow},
    {"Not", "!$0", kModerate, kBool},
    {"Or", "$0 || $1", kModerate, kBool},
    {"PRelu", "leaky_relu($0, $1)", kLow, kFirst, "", false, false, nullptr, true},
    {"Pow", "power($0, $1)", kHigh},
    {"Reciprocal", "nn::reciprocal($0)"},
    {"Relu", "relu($0)", kLow},
    {"Round", "rint($0)"},
    {"Selu", "selu($0, @alpha, @gamma)", kHigh, kFirst, "alpha=1.6732632423543772 gamma=1.0507009873554805"},
    {"Shrink", "shrink($0, @bias, @lambd)", kModerate, kFirst, "bias=0 lambd=0.5"},
    {"Sigmoid", "sigmoid($0)", kHigh},
    {"Sign", "nn::sign($0)"},
    {"Sin", "sin($0)", kHigh},
    {"Sinh", "sinh($0)", kHigh},
    {"Softplus", "softplus($0)", kHigh},
    {"Softsign", "softsign($0)"},
    {"Sqrt", "sqrt($0)"},
    {"Sub", "wrapping_subtract($0, $1)", kLow},
    {"Sum", "wrapping_add($0, $1)", kModerate, kFirst, "", true},
    {"Swish", "swish($0, @alpha)", kHigh, kFirst, "alpha=1"},
    {"Tan", "tan($0)", kHigh},
    {"Tanh", "layer_tanh($0)", kHigh},
    {"ThresholdedRelu", "thresholded_relu($0, @alpha)", kLow, kFirst, "alpha=1"},
    {"Where", "$0 ? $1 : $2", kModerate, kSecond},
    {"Xor", "$0 != $1", kModerate, kBool},
    {kScaleShift, "$0 * $1 + $2", kLow, kFirst, "", false, true},
    {kShift, "$0 + $1", kLow, kSecond, "", false, true},
    {kBias, "wrapping_add($0, $1)", kLow, kSecond},
};

}  // namespace

const PointwiseRow* find_pointwise(const std::string& op) {
  const auto& table = made_once([] {
    std::map<std::string_view, const PointwiseRow*> rows;
    for (const PointwiseRow& row : kRows) rows.emplace(row.op, &row);
    return rows;
  });
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

const char* pointwise_text(const PointwiseRow& row, const Node& node) {
  return row.variant ? row.variant(node) : row.text;
}

namespace {

/// What an attribute must be and is not; null where it is, or where no operator here knows it.
const char* lacking_kind(const PointwiseRow& row, std::string_view name, const Attribute& attribute) {
  constexpr std::string_view kTexts[] = {"approximate", "direction"};
  constexpr std::string_view kIntegers[] = {"detect_negative", "detect_positive", "fmod", "to"};
  if (std::ranges::find(kTexts, name) != std::end(kTexts)) {
    return std::holds_alternative<std::string>(attribute) ? nullptr : "a text";
  }
  if (std::ranges::find(kIntegers, name) != std::end(kIntegers)) {
    return std::holds_alternative<int64_t>(attribute) ? nullptr : "an integer";
  }
  const bool is_number = std::string_view(row.defaults).find(std::string(name) + "=") != std::string_view::npos;
  return is_number && !std::holds_alternative<double>(attribute) ? "a number" : nullptr;
}

}  // namespace

std::string pointwise_problem(const Node& node) {
  const PointwiseRow* const row = find_pointwise(node.op);
  if (!row) return {};
  for (const auto& [name, attribute] : node.attributes) {
    if (const char* kind = lacking_kind(*row, name, attribute)) {
      return "the attribute " + in_quotes(name) + " must be " + kind;
    }
  }
  if (node.op == "Clip" && node.inputs.size() > 3)
    return "it takes 3 inputs, not " + std::to_string(node.inputs.size());
  const std::string approximate = text_attribute(node, "approximate", "none");
  if (node.op == "Gelu" && approximate != "none" && approximate != "tanh") {
    return "approximate must be none or tanh, not " + in_quotes(approximate);
  }
  const std::string direction = text_attribute(node, "direction", "");
  if (node.op == "BitShift" && direction != "LEFT" && direction != "RIGHT") {
    return "direction must be LEFT or RIGHT, not " + in_quotes(direction);
  }
  return {};
}

double pointwise_number(const PointwiseRow& row, const Node& node, const std::string& name) {
  if (const auto* number = find_attribute<double>(node, name)) return *number;
  const std::string_view defaults = row.defaults;
  const size_t at = defaults.find(name + "=");
  if (at == std::string_view::npos) return 0;
  return static_cast<double>(std::strtof(row.defaults + at + name.size() + 1, nullptr));  // as the specification has it
}

}  // namespace iruka::nn
