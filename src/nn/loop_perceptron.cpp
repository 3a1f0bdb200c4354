#include "nn/loop_perceptron.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/device.h"
#include "nn/points.h"

namespace iruka::nn {
namespace {

/// The loops' function of an activation, which gives the same bits as the kernel's.
struct FunctionRow {
  Activation::Kind kind;
  ConvolutionFunction function;
};
constexpr FunctionRow kFunctions[] = {
    {Activation::Kind::relu, ConvolutionFunction::relu},
    {Activation::Kind::leaky_relu, ConvolutionFunction::leaky_relu},
    {Activation::Kind::gelu, ConvolutionFunction::gelu},
    {Activation::Kind::gelu_tanh, ConvolutionFunction::gelu_tanh},
    {Activation::Kind::silu, ConvolutionFunction::silu},
    {Activation::Kind::tanh, ConvolutionFunction::tanh},
    {Activation::Kind::sigmoid, ConvolutionFunction::sigmoid},
    {Activation::Kind::softplus, ConvolutionFunction::softplus},
    {Activation::Kind::elu, ConvolutionFunction::elu},
    {Activation::Kind::hardswish, ConvolutionFunction::torch_hard_swish},
};

/// Whether a slope times zero is that zero, so that it does not matter on which side of the bend zeros are.
bool is_usual_slope(double slope) { return !std::signbit(slope) && std::isfinite(static_cast<float>(slope)); }

/// Nothing where the loops have no such layer.
std::optional<DenseStep> step_of(const DenseLayer& layer) {
  DenseStep step;
  if (!layer.weight.valid() || layer.activations.size() > 1) return {};
  if (layer.activations.empty()) return step;
  const Activation& activation = layer.activations[0];
  if (activation.kind == Activation::Kind::prelu) {
    if (activation.weight.size() != 1 || !is_usual_slope(activation.weight.item<double>())) return {};
    step.function = ConvolutionFunction::leaky_relu, step.numbers[0] = activation.weight.item<double>();
    return step;
  }
  if (activation.kind == Activation::Kind::leaky_relu && !is_usual_slope(activation.parameters.at(0))) return {};
  const auto* const row = std::ranges::find(kFunctions, activation.kind, &FunctionRow::kind);
  if (row == std::end(kFunctions)) return {};
  step.function = row->function;
  std::ranges::copy(activation.parameters, step.numbers);
  return step;
}

/// The points of an array whose features lie along its last axis.
struct Rows {
  const Points points;
  const int64_t packed;  ///< bytes from point to point, where points are packed

  explicit Rows(const Array& x) : points(x, 1), packed(x.shape(x.ndim() - 1) * x.itemsize()) {}
  DensePoints described() const {
    const Array& view = points.view;
    if (points.layout == PointLayout::packed) return {view.data(), 1, &points.count, &packed, points.stride};
    return {view.data(), view.ndim(), view.shape().begin(), view.strides().begin(), points.stride};
  }
};

bool is_aligned(const Array& x) {
  bool fits = reinterpret_cast<uintptr_t>(x.data()) % static_cast<uintptr_t>(x.itemsize()) == 0;
  for (const int64_t stride : x.strides()) fits &= stride % x.itemsize() == 0;
  return fits;
}

}  // namespace

bool LoopPerceptron::fits(const std::vector<DenseLayer>& layers, const Plan& plan) {
  if (!plan.device->find_service<DenseNetworks>() || layers.empty()) return false;
  for (const DenseLayer& layer : layers)
    if (!step_of(layer)) return false;
  return true;
}

LoopPerceptron::LoopPerceptron(const std::vector<DenseLayer>& layers, const Plan& plan) {
  const DenseNetworks& loops = plan.device->service<DenseNetworks>();
  for (const DenseLayer& layer : layers) {
    DenseStep step = *step_of(layer);
    weights_.push_back(loops.packed(layer.weight));
    biases_.push_back(layer.bias.valid() ? layer.bias.copy() : Array());
    step.inputs = layer.weight.shape(1), step.outputs = layer.weight.shape(0);
    step.weights = weights_.back().data();
    step.bias = layer.bias.valid() ? biases_.back().data() : nullptr;
    steps_.push_back(step);
  }
}

bool LoopPerceptron::run(const Array& x, const Array& y) const {
  if (x.dtype() != y.dtype() || !is_aligned(x) || !is_aligned(y)) return false;
  const Rows from(x), to(y);
  x.device().service<DenseNetworks>().run({x.dtype(), steps_, from.described(), to.described(), from.points.count});
  return true;
}

}  // namespace iruka::nn
