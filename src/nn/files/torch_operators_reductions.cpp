// Reductions, and the largest elements along an axis.
#include <cmath>

#include "nn/files/torch_operators.h"

namespace iruka::nn {
namespace {

std::string reduced(TorchCall& call, const char* op, const std::string& x, const Integers& axes, bool keeps) {
  Names inputs{x};
  if (!axes.empty()) inputs.push_back(call.constant(axes));
  return call.emit(op, inputs, {{"keepdims", int64_t{keeps}}});
}

/// sum, mean, prod, amax and so on: over axes, or over all of them.
Names reduction(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  call.ignore("dtype");  // the result tells it
  const std::string converted = call.cast(x.value, x.dtype, call.result().dtype);
  const Integers axes = call.axes("dim", x.ndim());
  if (x.ndim() == 0) return {converted};
  return {reduced(call, call.op(), converted, axes, call.flag("keepdim", false))};
}

/// The largest elements alone, of two arguments, or along an axis with their places.
template <bool kIsMax>
Names extreme(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  if (call.has("other")) {
    const Dtype dtype = call.result().dtype;
    return {call.emit(kIsMax ? "Max" : "Min", {call.operand("self", dtype), call.operand("other", dtype)})};
  }
  const char* const op = kIsMax ? "ReduceMax" : "ReduceMin";
  if (!call.has("dim")) return {x.ndim() == 0 ? x.value : reduced(call, op, x.value, {}, false)};
  const int64_t axis = call.axis("dim", x.ndim()), keeps = call.flag("keepdim", false);
  if (x.ndim() == 0) call.fail("the input has no axes");
  Names results{reduced(call, op, x.value, {axis}, keeps != 0)};
  results.push_back(call.emit(kIsMax ? "ArgMax" : "ArgMin", {x.value}, {{"axis", axis}, {"keepdims", keeps}}));
  return results;
}

/// The place of the largest element along an axis, or among all.
Names place(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int64_t keeps = call.flag("keepdim", false);
  if (call.has("dim")) {
    return {call.emit(call.op(), {x.value}, {{"axis", int64_t{call.axis("dim", x.ndim())}}, {"keepdims", keeps}})};
  }
  const std::string y =
      call.emit(call.op(), {call.reshaped(x.value, {-1})}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}});
  return {keeps ? call.reshaped(y, Integers(static_cast<size_t>(x.ndim()), 1)) : y};
}

/// The number of elements behind each of the result's, less the correction, as a tensor.
std::string degrees_of_freedom(TorchCall& call, const TorchTensor& x, const std::string& mean, double correction) {
  const std::string all = call.emit("Size", {x.value}), kept = call.emit("Size", {mean});
  const std::string count = call.cast(call.emit("Div", {all, kept}), Dtype::int64, x.dtype);
  return correction == 0 ? count : call.emit("Sub", {count, call.constant(correction, x.dtype)});
}

/// var and std: the mean of squares of differences, by the number of elements less a correction.
Names variance(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const Integers axes = call.axes("dim", x.ndim());
  const bool keeps = call.flag("keepdim", false);
  double correction = call.flag("unbiased", true) ? 1 : 0;
  if (call.has("correction")) correction = call.number("correction").as_double();
  const std::string mean = reduced(call, "ReduceMean", x.value, axes, true);
  const std::string total = reduced(call, "ReduceSumSquare", call.emit("Sub", {x.value, mean}), axes, keeps);
  std::string y = call.emit("Div", {total, degrees_of_freedom(call, x, mean, correction)});
  if (std::string_view(call.op()) == "Sqrt") y = call.emit("Sqrt", {y});
  if (!call.name().ends_with("_mean")) return {y};
  return {y, keeps ? mean : call.squeezed(mean, axes)};
}

Names any(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const Integers axes = call.axes("dim", x.ndim());
  const std::string flags = call.cast(x.value, x.dtype, Dtype::bool_);
  return {x.ndim() == 0 ? flags : reduced(call, call.op(), flags, axes, call.flag("keepdim", false))};
}

Names norm(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const double order = call.number(call.name() == "norm" ? "p" : "ord", Scalar(2)).as_double();
  const bool is_of_matrix = call.name() == "linalg_norm" && call.has("ord") && call.axes("dim", x.ndim()).size() != 1;
  call.ignore("dtype");
  if (is_of_matrix) call.fail("norms of matrices are not known");
  if (order != 1 && order != 2) call.fail("a norm of order " + std::to_string(order) + " is not known");
  const std::string converted = call.cast(x.value, x.dtype, call.result().dtype);
  const Integers axes = call.axes("dim", x.ndim());
  return {reduced(call, order == 1 ? "ReduceL1" : "ReduceL2", converted, axes, call.flag("keepdim", false))};
}

Names cumulated(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  call.ignore("dtype");
  const int64_t axis = call.axis("dim", x.ndim());
  const std::string converted = call.cast(x.value, x.dtype, call.result().dtype);
  if (x.ndim() == 0) return {converted};
  return {call.emit(call.op(), {converted, call.constant(Scalar(axis), Dtype::int64)})};
}

Names topk(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const std::vector<TorchSize> count{call.size("k")};
  return call.emit(
      2, "TopK", {x.value, call.constant(count)},
      {{"axis", int64_t{call.axis("dim", x.ndim(), -1)}}, {"largest", int64_t{call.flag("largest", true)}}});
}

/// All elements along an axis, the smallest or largest first.
Names sort(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int64_t axis = call.axis("dim", x.ndim(), -1), largest = call.flag("descending", false);
  const std::string count = call.emit("Shape", {x.value}, {{"start", axis}, {"end", axis + 1}});
  Names results = call.emit(2, "TopK", {x.value, count}, {{"axis", axis}, {"largest", largest}});
  if (call.name() == "argsort") results.erase(results.begin());
  return results;
}

constexpr TorchOperator kRows[] = {
    {"all", any, "ReduceMin"},
    {"amax", reduction, "ReduceMax"},
    {"amin", reduction, "ReduceMin"},
    {"any", any, "ReduceMax"},
    {"argmax", place, "ArgMax"},
    {"argmin", place, "ArgMin"},
    {"argsort", sort},
    {"cumprod", cumulated, "CumProd"},
    {"cumsum", cumulated, "CumSum"},
    {"linalg_norm", norm},
    {"linalg_vector_norm", norm},
    {"logsumexp", reduction, "ReduceLogSumExp"},
    {"max", extreme<true>},
    {"mean", reduction, "ReduceMean"},
    {"min", extreme<false>},
    {"norm", norm},
    {"prod", reduction, "ReduceProd"},
    {"sort", sort},
    {"std", variance, "Sqrt"},
    {"std_mean", variance, "Sqrt"},
    {"sum", reduction, "ReduceSum"},
    {"topk", topk},
    {"var", variance},
    {"var_mean", variance},
};

}  // namespace

std::span<const TorchOperator> torch_reduction_operators() { return kRows; }

}  // namespace iruka::nn
