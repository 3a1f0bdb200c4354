#include "nn/layers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/device.h"
#include "iruka/device.h"

namespace iruka::nn {
namespace {

constexpr int64_t kGroup = PackedMatrix<float>::kGroup;

struct Row {
  const char *name, *struct_name;
  size_t parameters;
};
/// In the order of Activation::Kind.
constexpr Row kRows[] = {
    {"relu", "Relu", 0},
    {"leaky_relu", "LeakyRelu", 1},
    {"gelu", "Gelu", 0},
    {"gelu_tanh", "GeluTanh", 0},
    {"silu", "Silu", 0},
    {"tanh", "Tanh", 0},
    {"sigmoid", "Sigmoid", 0},
    {"softplus", "Softplus", 2},
    {"elu", "Elu", 1},
    {"prelu", "Prelu", 0},
    {"hardswish", "Hardswish", 0},
    {"softmax", "", 0},
};
const Row& row(Activation::Kind kind) { return kRows[static_cast<size_t>(kind)]; }

std::string shape_text(const Array& x) { return "shape " + to_string(x.shape()); }

/// Refuses a layer's array. `k` counts from 0.
template <class E>
[[noreturn]] void refuse(size_t k, const std::string& problem) {
  throw E("nn.Perceptron: layer " + std::to_string(k) + ": " + problem);
}

/// Every array has the dtype and device of the first one.
void check_kind(Plan& plan, size_t k, const char* what, const Array& x) {
  if (x.dtype() != Dtype::float32 && x.dtype() != Dtype::float64)
    refuse<TypeError>(k, std::string("the ") + what + " must be float32 or float64, not " + iruka::name(x.dtype()));
  if (!plan.device) plan.device = &x.device(), plan.dtype = x.dtype();
  if (x.dtype() != plan.dtype)
    refuse<TypeError>(k, std::string("the ") + what + " is " + iruka::name(x.dtype()) + ", but other weights are " +
                             iruka::name(plan.dtype));
  if (&x.device() != plan.device)
    refuse<ValueError>(k, std::string("the ") + what + " is on " + x.device().name() + ", but other weights are on " +
                              plan.device->name());
}

void check_weight(Plan& plan, size_t k, const DenseLayer& layer, int64_t inputs) {
  const Array& weight = layer.weight;
  check_kind(plan, k, "weight", weight);
  if (weight.ndim() != 2 || weight.size() == 0)
    refuse<ShapeError>(k, "the weight must have shape (outputs, inputs), both at least 1, not " + shape_text(weight));
  if (weight.shape(1) != inputs)
    refuse<ShapeError>(
        k, "the weight takes " + std::to_string(weight.shape(1)) + " numbers, but gets " + std::to_string(inputs));
  if (!layer.bias.valid()) return;
  check_kind(plan, k, "bias", layer.bias);
  if (layer.bias.ndim() != 1 || layer.bias.shape(0) != weight.shape(0))
    refuse<ShapeError>(
        k, "the bias must have shape (" + std::to_string(weight.shape(0)) + ",), not " + shape_text(layer.bias));
}

void check_activation(Plan& plan, size_t k, const Activation& activation, int64_t width) {
  const Row& expected = row(activation.kind);
  if (activation.parameters.size() != expected.parameters)
    refuse<ValueError>(k, std::string(expected.name) + " takes " + std::to_string(expected.parameters) +
                              " parameters, not " + std::to_string(activation.parameters.size()));
  if (activation.kind != Activation::Kind::prelu) return;
  if (!activation.weight.valid()) refuse<ValueError>(k, "prelu needs a weight");
  check_kind(plan, k, "weight of prelu", activation.weight);
  const int64_t slopes = activation.weight.size();
  if (activation.weight.ndim() != 1 || (slopes != 1 && slopes != width))
    refuse<ShapeError>(k, "the weight of prelu must have 1 or " + std::to_string(width) + " numbers, not " +
                              shape_text(activation.weight));
}

int64_t rounded_up(int64_t numbers) { return (numbers + kGroup - 1) / kGroup * kGroup; }

/// The layer's numbers, in the order that kernels/perceptron.h describes.
template <class F>
void pack_weights(F* to, const DenseLayer& layer, const PackedLayer& plan) {
  const std::vector<F> weight = layer.weight.to_vector<F>();
  const std::vector<F> bias = layer.bias.valid() ? layer.bias.to_vector<F>() : std::vector<F>(weight.size());
  for (int64_t first = 0; first < plan.outputs; first += kGroup) {
    const int64_t size = std::min(kGroup, plan.outputs - first);
    F* group = to + plan.weights + first * (plan.inputs + 1);
    group = std::copy_n(&bias[static_cast<size_t>(first)], size, group);
    for (int64_t c = 0; c < plan.inputs; ++c)
      for (int64_t k = first; k < first + size; ++k) *group++ = weight[static_cast<size_t>(k * plan.inputs + c)];
  }
}

template <class F>
Array packed(const std::vector<DenseLayer>& layers, const Plan& plan) {
  std::vector<F> numbers(static_cast<size_t>(plan.packed_size()));
  for (size_t k = 0; k < layers.size(); ++k) {
    if (layers[k].weight.valid()) pack_weights(numbers.data(), layers[k], plan.layers[k]);
    for (size_t a = 0; a < layers[k].activations.size(); ++a) {
      const Activation& activation = layers[k].activations[a];
      F* const to = numbers.data() + plan.layers[k].parameters[a];
      std::ranges::copy(activation.parameters, to);
      if (activation.weight.valid()) std::ranges::copy(activation.weight.to_vector<F>(), to);
    }
  }
  return Array::from(std::span<const F>(numbers), {std::ssize(numbers)}).to_device(*plan.device);
}

template <class F>
std::vector<DenseLayer> unpacked(std::vector<DenseLayer> layers, const Plan& plan, const Array& weights) {
  const std::vector<F> numbers = weights.to_vector<F>();
  const auto array = [&](std::span<const F> values, Dims shape) {
    return Array::from(values, std::move(shape)).to_device(*plan.device);
  };
  for (size_t k = 0; k < layers.size(); ++k) {
    const PackedLayer& packed = plan.layers[k];
    if (layers[k].weight.valid()) {
      const PackedMatrix<F> from{numbers.data() + packed.weights, packed.inputs, packed.outputs};
      std::vector<F> weight, bias;
      for (int64_t output = 0; output < packed.outputs; ++output) {
        bias.push_back(from.bias(output));
        for (int64_t input = 0; input < packed.inputs; ++input) weight.push_back(from.weight(output, input));
      }
      layers[k].weight = array(weight, {packed.outputs, packed.inputs});
      layers[k].bias = array(bias, {packed.outputs});
    }
    for (size_t a = 0; a < layers[k].activations.size(); ++a)
      if (Array& slopes = layers[k].activations[a].weight; slopes.valid())
        slopes = array({numbers.data() + packed.parameters[a], static_cast<size_t>(slopes.size())}, {slopes.size()});
  }
  return layers;
}

}  // namespace

const char* name(Activation::Kind kind) { return row(kind).name; }

const char* struct_name(const Activation& activation) {
  const bool is_one_slope = activation.kind == Activation::Kind::prelu && activation.weight.size() == 1;
  return is_one_slope ? "LeakyRelu" : row(activation.kind).struct_name;
}

int64_t parameter_count(const Activation& activation) {
  return activation.weight.valid() ? activation.weight.size() : static_cast<int64_t>(activation.parameters.size());
}

Plan plan_layers(const std::vector<DenseLayer>& layers, const ActivationInput& input) {
  Plan plan;
  const auto with_weight = std::ranges::find_if(layers, [](const DenseLayer& layer) { return layer.weight.valid(); });
  if (input.features < 1)
    throw ValueError("nn.Perceptron: there must be at least 1 feature, not " + std::to_string(input.features));
  if (input.dtype != Dtype::float32 && input.dtype != Dtype::float64)
    throw TypeError(std::string("nn.Perceptron: the dtype must be float32 or float64, not ") +
                    iruka::name(input.dtype));
  plan.dtype = input.dtype;
  int64_t width = input.features;
  if (with_weight != layers.end() && with_weight->weight.ndim() == 2) width = with_weight->weight.shape(1);
  plan.in_features = plan.widest = width;
  for (size_t k = 0; k < layers.size(); ++k) {
    const DenseLayer& layer = layers[k];
    if (layer.weight.valid())
      check_weight(plan, k, layer, width);
    else if (k > 0 || layer.bias.valid())
      refuse<ValueError>(k, "it has no weight");
    PackedLayer packed{width, layer.weight.valid() ? layer.weight.shape(0) : width, plan.numbers, {}};
    if (layer.weight.valid()) plan.numbers += rounded_up(packed.outputs * (packed.inputs + 1));
    for (const Activation& activation : layer.activations) {
      check_activation(plan, k, activation, packed.outputs);
      packed.parameters.push_back(plan.numbers);
      plan.numbers += rounded_up(parameter_count(activation));
    }
    width = packed.outputs;
    plan.widest = std::max(plan.widest, width);
    plan.layers.push_back(std::move(packed));
  }
  plan.out_features = width;
  if (!plan.device) plan.device = input.device ? input.device : &default_device();
  return plan;
}

Array pack_weights(const std::vector<DenseLayer>& layers, const Plan& plan) {
  return plan.dtype == Dtype::float32 ? packed<float>(layers, plan) : packed<double>(layers, plan);
}

std::vector<DenseLayer> unpacked_layers(const std::vector<DenseLayer>& layers, const Plan& plan, const Array& weights) {
  return plan.dtype == Dtype::float32 ? unpacked<float>(layers, plan, weights)
                                      : unpacked<double>(layers, plan, weights);
}

}  // namespace iruka::nn
