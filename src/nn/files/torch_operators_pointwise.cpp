// Operators of which each element of the result depends on one element of each argument.
#include <cmath>

#include "nn/files/torch_operators.h"

namespace iruka::nn {
namespace {

bool is_number_of_floats(Dtype dtype) { return kind(dtype) == Kind::floating; }

std::string input_of(TorchCall& call) { return call.operand("self", call.result().dtype); }

Names unary(TorchCall& call) { return {call.emit(call.op(), {input_of(call)})}; }

/// Of NaN 0, unlike ONNX's.
Names sign(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const std::string x = input_of(call), y = call.emit("Sign", {x});
  if (!is_number_of_floats(dtype)) return {y};
  return {call.emit("Where", {call.emit("IsNaN", {x}), call.constant(Scalar(0.0), dtype), y})};
}

/// floor, ceil and the like, which leave integers as they are.
Names rounding(TorchCall& call) {
  const std::string x = input_of(call);
  if (call.integer("decimals", 0) != 0) call.fail("rounding to decimals is not known");
  return {is_number_of_floats(call.result().dtype) ? call.emit(call.op(), {x}) : x};
}

Names trunc(TorchCall& call) {
  const std::string x = input_of(call);
  if (!is_number_of_floats(call.result().dtype)) return {x};
  return {call.emit("Mul", {call.emit("Sign", {x}), call.emit("Floor", {call.emit("Abs", {x})})})};
}

Names with_base(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const double base = call.name() == "log2" ? 2 : 10;
  const std::string scale = call.constant(1 / std::log(base), dtype);
  return {call.emit("Mul", {call.emit("Log", {input_of(call)}), scale})};
}
Names exp2(TorchCall& call) { return {call.emit("Pow", {call.constant(2.0, call.result().dtype), input_of(call)})}; }
Names rsqrt(TorchCall& call) { return {call.emit("Reciprocal", {call.emit("Sqrt", {input_of(call)})})}; }
Names square(TorchCall& call) {
  const std::string x = input_of(call);
  return {call.emit("Mul", {x, x})};
}

/// self + alpha other and self - alpha other; for rsub the other way round.
Names sum(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const bool is_reversed = call.name() == "rsub";
  std::string first = input_of(call), second = call.operand("other", dtype);
  std::string& scaled = is_reversed ? first : second;
  const Scalar alpha = call.number("alpha", Scalar(1));
  if (dtype == Dtype::bool_) return {call.emit("Or", {first, second})};
  if (alpha.as_double() != 1) scaled = call.emit("Mul", {scaled, call.constant(alpha, dtype)});
  return {is_reversed ? call.emit("Sub", {second, first}) : call.emit(call.op(), {first, second})};
}

Names binary(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const bool is_product = call.name() == "mul" && dtype == Dtype::bool_;
  return {call.emit(is_product ? "And" : call.op(), {input_of(call), call.operand("other", dtype)})};
}

/// Integers are divided towards zero here, so a remainder of the other sign is taken off first.
std::string floor_quotient(TorchCall& call, const std::string& x, const std::string& y, Dtype dtype) {
  if (is_number_of_floats(dtype)) return call.emit("Floor", {call.emit("Div", {x, y})});
  return call.emit("Div", {call.emit("Sub", {x, call.emit("Mod", {x, y})}), y});
}

Names quotient(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const std::string x = input_of(call), y = call.operand("other", dtype), mode = call.text("rounding_mode", "");
  if (mode == "floor") return {floor_quotient(call, x, y, dtype)};
  const std::string exact = call.emit("Div", {x, y});
  if (mode.empty() || !is_number_of_floats(dtype)) return {exact};
  return {call.emit("Mul", {call.emit("Sign", {exact}), call.emit("Floor", {call.emit("Abs", {exact})})})};
}
Names floor_divide(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  return {floor_quotient(call, input_of(call), call.operand("other", dtype), dtype)};
}
Names remainder(TorchCall& call) {
  const int64_t is_truncated = call.name() == "fmod";
  return {call.emit("Mod", {input_of(call), call.operand("other", call.result().dtype)}, {{"fmod", is_truncated}})};
}
Names power(TorchCall& call) {
  return {call.emit("Pow", {input_of(call), call.operand("exponent", call.result().dtype)})};
}

Names comparison(TorchCall& call) {
  const Dtype dtype = call.common_dtype("self", "other");
  const std::string flags = call.emit(call.op(), {call.operand("self", dtype), call.operand("other", dtype)});
  return {call.name() == "ne" ? call.emit("Not", {flags}) : flags};
}
Names logical(TorchCall& call) {
  return {call.emit(call.op(), {call.operand("self", Dtype::bool_), call.operand("other", Dtype::bool_)})};
}
Names logical_not(TorchCall& call) { return {call.emit("Not", {call.operand("self", Dtype::bool_)})}; }
Names test(TorchCall& call) { return {call.emit(call.op(), {call.tensor("self").value})}; }

/// And, Or, Xor of bools, BitwiseAnd and so on of integers.
Names bitwise(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const std::string op = dtype == Dtype::bool_ ? call.op() : std::string("Bitwise") + call.op();
  return {call.emit(op.c_str(), {input_of(call), call.operand("other", dtype)})};
}
Names bitwise_not(TorchCall& call) {
  return {call.emit(call.result().dtype == Dtype::bool_ ? "Not" : "BitwiseNot", {input_of(call)})};
}

Names clamp(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  std::string x = input_of(call);
  if (call.has("min")) x = call.emit("Max", {x, call.operand("min", dtype)});
  if (call.has("max")) x = call.emit("Min", {x, call.operand("max", dtype)});
  return {x};
}
std::string between(TorchCall& call, double least, double most) {
  const Dtype dtype = call.result().dtype;
  return call.emit("Clip", {input_of(call), call.constant(least, dtype), call.constant(most, dtype)});
}
Names hardtanh(TorchCall& call) {
  return {
      between(call, call.number("min_val", Scalar(-1.0)).as_double(), call.number("max_val", Scalar(1.0)).as_double())};
}
Names relu6(TorchCall& call) { return {between(call, 0, 6)}; }
Names hardsigmoid(TorchCall& call) {
  return {call.emit("HardSigmoid", {input_of(call)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})};
}

double attribute(TorchCall& call, const char* name, double otherwise) {
  return call.number(name, Scalar(otherwise)).as_double();
}
Names leaky_relu(TorchCall& call) {
  return {call.emit("LeakyRelu", {input_of(call)}, {{"alpha", attribute(call, "negative_slope", 0.01)}})};
}
Names celu(TorchCall& call) { return {call.emit("Celu", {input_of(call)}, {{"alpha", attribute(call, "alpha", 1)}})}; }

/// scale x of a positive x, else scale alpha (exp(input_scale x) - 1).
Names elu(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const std::string x = input_of(call);
  const Scalar scale = call.number("scale", Scalar(1)), input_scale = call.number("input_scale", Scalar(1));
  std::string y = x;
  if (input_scale.as_double() != 1) y = call.emit("Mul", {x, call.constant(input_scale, dtype)});
  y = call.emit("Elu", {y}, {{"alpha", attribute(call, "alpha", 1)}});
  if (input_scale.as_double() != 1) {
    y = call.emit("Where", {call.emit("Greater", {x, call.constant(0.0, dtype)}), x, y});
  }
  return {scale.as_double() == 1 ? y : call.emit("Mul", {y, call.constant(scale, dtype)})};
}

Names gelu(TorchCall& call) {
  return {call.emit("Gelu", {input_of(call)}, {{"approximate", call.text("approximate", "none")}})};
}
/// 0 near 0; elsewhere x, for softshrink less the threshold.
Names shrink(TorchCall& call) {
  const double limit = attribute(call, "lambd", 0.5);
  const double bias = call.name() == "softshrink" ? limit : 0;
  const std::string x = input_of(call), y = call.emit("Shrink", {x}, {{"lambd", limit}, {"bias", bias}});
  return {call.emit("Where", {call.emit("IsNaN", {x}), x, y})};  // ONNX makes 0 of NaN
}
/// log(1 + exp(beta x)) / beta; what is above the threshold equals x within a float's precision.
Names softplus(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const Scalar beta = call.number("beta", Scalar(1)), threshold = call.number("threshold", Scalar(20));
  const std::string x = input_of(call);
  if (threshold.as_double() < 20) call.fail("a threshold below 20 is not known");
  if (beta.as_double() == 1) return {call.emit("Softplus", {x})};
  const std::string factor = call.constant(beta, dtype);
  return {call.emit("Div", {call.emit("Softplus", {call.emit("Mul", {x, factor})}), factor})};
}
Names threshold(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const std::string x = input_of(call), limit = call.operand("threshold", dtype);
  return {call.emit("Where", {call.emit("LessOrEqual", {x, limit}), call.operand("value", dtype), x})};
}
Names log_sigmoid(TorchCall& call) {
  return {call.emit("Neg", {call.emit("Softplus", {call.emit("Neg", {input_of(call)})})})};
}
/// The first half of an axis times the sigmoid of the second.
Names glu(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const Names halves = call.emit(2, "Split", {x.value}, {{"axis", int64_t{call.axis("dim", x.ndim(), -1)}}});
  return {call.emit("Mul", {halves[0], call.emit("Sigmoid", {halves[1]})})};
}

/// One slope, or one for each element of axis 1.
Names prelu(TorchCall& call) {
  const TorchTensor x = call.tensor("self"), weight = call.tensor("weight");
  Integers axes;
  for (int axis = 2; axis < x.ndim(); ++axis) axes.push_back(axis - 1);
  const bool is_by_channel = weight.ndim() == 1 && weight.extent(0) != 1;
  return {call.emit("PRelu", {x.value, is_by_channel ? call.unsqueezed(weight.value, axes) : weight.value})};
}

Names where(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  return {call.emit(
      "Where", {call.operand("condition", Dtype::bool_), call.operand("self", dtype), call.operand("other", dtype)})};
}
Names masked_fill(TorchCall& call) {
  const std::string mask = call.operand("mask", Dtype::bool_), value = call.operand("value", call.result().dtype);
  return {call.emit("Where", {mask, value, input_of(call)})};
}
Names addc(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const Scalar value = call.number("value", Scalar(1));
  std::string y = call.emit(call.op(), {call.operand("tensor1", dtype), call.operand("tensor2", dtype)});
  if (value.as_double() != 1) y = call.emit("Mul", {y, call.constant(value, dtype)});
  return {call.emit("Add", {input_of(call), y})};
}
Names lerp(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  const std::string x = input_of(call), way = call.emit("Sub", {call.operand("end", dtype), x});
  return {call.emit("Add", {x, call.emit("Mul", {call.operand("weight", dtype), way})})};
}

Names cast(TorchCall& call) {
  for (const char* name : {"dtype", "other"}) call.ignore(name);  // the result tells its dtype
  return {input_of(call)};
}
Names identity(TorchCall& call) { return {call.tensor("self").value}; }

/// Dropout changes nothing of a network that is not trained.
Names dropout(TorchCall& call) {
  const TorchTensor x = call.tensor(call.has("self") ? "self" : "input");
  const double p = call.number("p", Scalar(0.5)).as_double();
  if (call.flag("train", false) && p != 0) {
    call.fail("it drops elements at random; call the module's eval() before it is exported");
  }
  return {x.value};
}

/// Sizes: integers a and b of Python.
Names size_operation(TorchCall& call) {
  std::string a = call.operand("a", Dtype::int64), b = call.operand("b", Dtype::int64);
  if (call.name() == "_operator.floordiv") return {floor_quotient(call, a, b, Dtype::int64)};
  return {call.emit(call.op(), {a, b})};
}
Names size_negation(TorchCall& call) { return {call.emit("Neg", {call.operand("a", Dtype::int64)})}; }

constexpr TorchOperator kRows[] = {
    {"_operator.add", size_operation, "Add"},
    {"_operator.floordiv", size_operation},
    {"_operator.mod", size_operation, "Mod"},
    {"_operator.mul", size_operation, "Mul"},
    {"_operator.neg", size_negation},
    {"_operator.sub", size_operation, "Sub"},
    {"__and__", bitwise, "And"},
    {"__or__", bitwise, "Or"},
    {"__xor__", bitwise, "Xor"},
    {"_to_copy", cast},
    {"abs", unary, "Abs"},
    {"acos", unary, "Acos"},
    {"acosh", unary, "Acosh"},
    {"add", sum, "Add"},
    {"addcdiv", addc, "Div"},
    {"addcmul", addc, "Mul"},
    {"alias", identity, "", true},
    {"alpha_dropout", dropout, "", true},
    {"asin", unary, "Asin"},
    {"asinh", unary, "Asinh"},
    {"atan", unary, "Atan"},
    {"atanh", unary, "Atanh"},
    {"bitwise_and", bitwise, "And"},
    {"bitwise_not", bitwise_not},
    {"bitwise_or", bitwise, "Or"},
    {"bitwise_xor", bitwise, "Xor"},
    {"ceil", rounding, "Ceil"},
    {"celu", celu},
    {"clamp", clamp},
    {"clamp_max", clamp},
    {"clamp_min", clamp},
    {"clip", clamp},
    {"clone", identity},
    {"contiguous", identity, "", true},
    {"cos", unary, "Cos"},
    {"cosh", unary, "Cosh"},
    {"detach", identity, "", true},
    {"div", quotient},
    {"dropout", dropout, "", true},
    {"elu", elu},
    {"eq", comparison, "Equal"},
    {"erf", unary, "Erf"},
    {"exp", unary, "Exp"},
    {"exp2", exp2},
    {"expm1", unary, "Expm1"},
    {"feature_dropout", dropout, "", true},
    {"floor", rounding, "Floor"},
    {"floor_divide", floor_divide},
    {"fmod", remainder},
    {"ge", comparison, "GreaterOrEqual"},
    {"gelu", gelu},
    {"glu", glu},
    {"gt", comparison, "Greater"},
    {"hardshrink", shrink},
    {"hardsigmoid", hardsigmoid},
    {"hardswish", unary, "HardSwish"},
    {"hardtanh", hardtanh},
    {"isinf", test, "IsInf"},
    {"isnan", test, "IsNaN"},
    {"le", comparison, "LessOrEqual"},
    {"leaky_relu", leaky_relu},
    {"lerp", lerp},
    {"lift_fresh_copy", identity},
    {"log", unary, "Log"},
    {"log10", with_base},
    {"log1p", unary, "Log1p"},
    {"log2", with_base},
    {"log_sigmoid", log_sigmoid},
    {"logical_and", logical, "And"},
    {"logical_not", logical_not},
    {"logical_or", logical, "Or"},
    {"logical_xor", logical, "Xor"},
    {"lt", comparison, "Less"},
    {"masked_fill", masked_fill},
    {"maximum", binary, "Max"},
    {"minimum", binary, "Min"},
    {"mish", unary, "Mish"},
    {"mul", binary, "Mul"},
    {"native_dropout", dropout, "", true},
    {"ne", comparison, "Equal"},
    {"neg", unary, "Neg"},
    {"pow", power},
    {"prelu", prelu},
    {"reciprocal", unary, "Reciprocal"},
    {"relu", unary, "Relu"},
    {"relu6", relu6},
    {"remainder", remainder},
    {"round", rounding, "Round"},
    {"rsqrt", rsqrt},
    {"rsub", sum, "Sub"},
    {"selu", unary, "Selu"},
    {"sigmoid", unary, "Sigmoid"},
    {"sign", sign},
    {"silu", unary, "Swish"},
    {"sin", unary, "Sin"},
    {"sinh", unary, "Sinh"},
    {"softplus", softplus},
    {"softshrink", shrink},
    {"sqrt", unary, "Sqrt"},
    {"square", square},
    {"sub", sum, "Sub"},
    {"tan", unary, "Tan"},
    {"tanh", unary, "Tanh"},
    {"threshold", threshold},
    {"to", cast, "", true},
    {"trunc", trunc},
    {"type_as", cast, "", true},
    {"where", where},
};

}  // namespace

std::span<const TorchOperator> torch_pointwise_operators() { return kRows; }

}  // namespace iruka::nn
