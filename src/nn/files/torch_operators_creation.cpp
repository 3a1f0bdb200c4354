// Operators that make tensors of numbers, and those that only check something.
#include "nn/files/torch_operators.h"

namespace iruka::nn {
namespace {

/// What full, full_like, new_full, zeros and so on fill their result with; the row says which number.
Names filled(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  for (const char* name : {"dtype", "names"}) call.ignore(name);  // the result tells its dtype
  const Scalar number = call.has("fill_value") ? call.number("fill_value")
                        : *call.op()           ? Scalar(int64_t{std::string_view(call.op()) == "1"})
                                               : call.number("value");
  std::string shape;
  if (call.has("size")) {
    call.ignore("self");
    shape = call.constant(call.sizes("size"));
  } else {
    shape = call.emit("Shape", {call.tensor("self").value});
  }
  Array value = array_of_scalar(number, dtype).reshape({1});
  return {call.emit("ConstantOfShape", {shape}, {{"value", std::move(value)}})};
}

/// fill(self, value): a number, or a tensor of one.
Names fill(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  return {call.emit("Expand", {call.operand("value", call.result().dtype), call.emit("Shape", {x.value})})};
}

Names scalar_tensor(TorchCall& call) {
  call.ignore("dtype");
  return {call.operand("s", call.result().dtype)};
}

Names arange(TorchCall& call) {
  const Dtype dtype = call.result().dtype;
  call.ignore("dtype");
  const std::string start = call.has("start") ? call.operand("start", dtype) : call.constant(Scalar(0), dtype);
  const std::string step = call.has("step") ? call.operand("step", dtype) : call.constant(Scalar(1), dtype);
  return {call.emit("Range", {start, call.operand("end", dtype), step})};
}

/// Elements of another tensor in the shape of self.
Names copy(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  call.flag("non_blocking", false);
  return {call.emit("Expand", {call.operand("src", x.dtype), call.emit("Shape", {x.value})})};
}

constexpr TorchOperator kRows[] = {
    {"arange", arange},
    {"copy", copy},
    {"empty", filled, "0"},
    {"empty_like", filled, "0"},
    {"fill", fill},
    {"full", filled},
    {"full_like", filled},
    {"new_empty", filled, "0"},
    {"new_full", filled},
    {"new_ones", filled, "1"},
    {"new_zeros", filled, "0"},
    {"ones", filled, "1"},
    {"ones_like", filled, "1"},
    {"scalar_tensor", scalar_tensor},
    {"zero", filled, "0"},
    {"zeros", filled, "0"},
    {"zeros_like", filled, "0"},
};

}  // namespace

std::span<const TorchOperator> torch_creation_operators() { return kRows; }

}  // namespace iruka::nn
