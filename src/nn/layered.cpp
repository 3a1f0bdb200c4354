#include "nn/layered.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/device.h"
#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "ops/linalg/operands.h"

namespace iruka::nn {
namespace {

/// Of the widest layer's numbers: what a processor's caches hold, and what keeps a GPU busy.
constexpr int64_t kBytesOnHost = int64_t{2} << 20, kBytesOnGpu = int64_t{128} << 20;
const char* const kHeader = "#include \"nn/kernels/perceptron.h\"\n";

KernelOptions options() {
  KernelOptions options;
  options.preamble = kHeader;
  options.diagnose_early = false;
  return options;
}

ElementwiseKernel softmax_kernel(Dtype dtype, int64_t width) {
  const std::string text = std::to_string(width);
  return ElementwiseKernel("", std::string("raw ") + name(dtype) + " y",
                           "iruka::nn::softmax<" + text + ">(&y[i * " + text + "]);", "nn_softmax", options());
}

ElementwiseKernel function_kernel(Dtype dtype, const Activation* activation) {
  const std::string type = name(dtype), text = activation ? struct_name(*activation) : "Identity";
  const bool has_slopes = activation && activation->kind == Activation::Kind::prelu;
  const std::string apply = has_slopes ? "LeakyRelu::apply(x + bias, &slope, 0)"  //
                                       : text + "::apply(x + bias, &parameters[0], 0)";
  return ElementwiseKernel(type + " x, " + type + " bias, " + type + " slope, raw const " + type + " parameters",
                           type + " y", "y = iruka::nn::" + apply + ";",
                           std::string("nn_") + (activation ? name(activation->kind) : "bias"), options());
}

Array on(Device& device, Array x) { return &x.device() == &device ? x : x.to_device(device); }

}  // namespace

LayeredNetwork::Pointwise LayeredNetwork::pointwise(const Activation* activation, const Array& bias, const Plan& plan,
                                                    int64_t width) {
  const bool is_softmax = activation && activation->kind == Activation::Kind::softmax;
  Array zero = Array::empty({1}, plan.dtype, *plan.device);
  zero.fill(0);
  Pointwise made{is_softmax ? softmax_kernel(plan.dtype, width) : function_kernel(plan.dtype, activation), is_softmax,
                 bias.valid() ? bias.copy() : zero, zero, zero};
  if (!activation) return made;
  if (activation->weight.valid()) made.slopes = activation->weight.copy();
  if (const std::vector<double>& numbers = activation->parameters; !numbers.empty())
    made.parameters =
        on(*plan.device, Array::from(std::span<const double>(numbers), {std::ssize(numbers)})).astype(plan.dtype);
  return made;
}

LayeredNetwork::LayeredNetwork(const std::vector<DenseLayer>& layers, const Plan& plan)
    : row_bytes_(plan.widest * itemsize(plan.dtype)),
      bytes_at_once_(plan.device->target().is_host ? kBytesOnHost : kBytesOnGpu) {
  for (size_t k = 0; k < layers.size(); ++k) {
    const DenseLayer& from = layers[k];
    const int64_t width = plan.layers[k].outputs;
    Layer layer;
    if (from.weight.valid()) layer.matrix = from.weight.copy().transpose();
    const Activation* activation = from.activations.empty() ? nullptr : &from.activations[0];
    const bool is_fused = activation && activation->kind != Activation::Kind::softmax;
    layer.has_relu = activation && activation->kind == Activation::Kind::relu;
    layer.has_bias = from.bias.valid() && (!is_fused || layer.has_relu);
    if (from.bias.valid() || is_fused)
      layer.functions.push_back(pointwise(is_fused ? activation : nullptr, from.bias, plan, width));
    for (size_t next = is_fused ? 1 : 0; next < from.activations.size(); ++next)
      layer.functions.push_back(pointwise(&from.activations[next], {}, plan, width));
    layers_.push_back(std::move(layer));
  }
}

int64_t LayeredNetwork::rows_at_once() const { return std::max<int64_t>(1, bytes_at_once_ / row_bytes_); }

Array LayeredNetwork::operator()(const Array& x) const {
  Array values = layers_.empty() || !layers_[0].matrix.valid() ? x.copy() : x;
  for (const Layer& layer : layers_) {
    std::optional<Array> made;
    if (layer.has_bias && layer.matrix.valid())
      made = ops::layer_product(values, layer.matrix, layer.functions[0].bias, layer.has_relu);
    if (layer.matrix.valid()) values = made ? *made : matmul(values, layer.matrix);
    for (const Pointwise& function : std::span(layer.functions).subspan(made ? 1 : 0)) {
      if (function.is_softmax) {
        const Argument arguments[] = {values};
        function.kernel.fill(arguments, {.size = values.shape(0)});
      } else {
        const Argument arguments[] = {values, function.bias, function.slopes, function.parameters, values};
        function.kernel.fill(arguments);
      }
    }
  }
  return values;
}

}  // namespace iruka::nn
