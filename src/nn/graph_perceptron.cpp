#include "nn/graph_perceptron.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "iruka/ops.h"
#include "nn/node_users.h"
#include "nn/pointwise_table.h"

namespace iruka::nn {
namespace {

/// An operator that is an activation, and the attributes that are its parameters; the others must be the defaults.
struct ActivationRow {
  std::string_view op;
  Activation::Kind kind;
  const char* parameter = "";
};
constexpr ActivationRow kActivations[] = {
    {"Elu", Activation::Kind::elu, "alpha"},    {"Gelu", Activation::Kind::gelu},
    {"HardSwish", Activation::Kind::hardswish}, {"LeakyRelu", Activation::Kind::leaky_relu, "alpha"},
    {"Relu", Activation::Kind::relu},           {"Sigmoid", Activation::Kind::sigmoid},
    {"Softplus", Activation::Kind::softplus},   {"Swish", Activation::Kind::silu},
    {"Tanh", Activation::Kind::tanh},
};

/// Reads the chain from the input to the output.
class Chain {
 public:
  explicit Chain(const Graph& graph) : graph_(graph), users_(graph) {}

  /// The layers, none where the graph is something else.
  std::vector<DenseLayer> read() {
    if (!starts()) return {};
    size_t taken = 0;
    while (value_ != graph_.outputs[0].name || !users_.users(value_).empty()) {
      if (users_.is_output(value_) || ++taken > graph_.nodes.size() || !takes_step()) return {};
    }
    const bool has_weights = std::ranges::any_of(layers_, [](const DenseLayer& each) { return each.weight.valid(); });
    return has_weights ? std::move(layers_) : std::vector<DenseLayer>();
  }

 private:
  bool starts() {
    if (graph_.inputs.size() != 1 || graph_.outputs.size() != 1) return false;
    const TensorInfo& input = graph_.inputs[0];
    if (!input.shape || input.shape->size() != 2 || (*input.shape)[0].value >= 0) return false;
    if (input.dtype != Dtype::float32 && input.dtype != Dtype::float64) return false;
    value_ = input.name, dtype_ = *input.dtype, width_ = (*input.shape)[1].value;
    return true;
  }

  bool takes_step() {
    if (const Node* node = only_user(value_))
      return takes_product(*node) || takes_bias(*node) || takes_nothing(*node) || takes_activation(*node);
    return takes_product_of_functions();
  }

  const Node* only_user(const std::string& value) const {
    const auto users = users_.users(value);
    return users.size() == 1 && !users_.is_output(value) ? &graph_.nodes[users[0]] : nullptr;
  }
  const Array* constant(const Node& node, size_t place) const {
    if (place >= node.inputs.size()) return nullptr;
    const auto found = graph_.initializers.find(node.inputs[place]);
    return found == graph_.initializers.end() ? nullptr : &found->second;
  }
  /// A constant of the network's dtype.
  const Array* weight(const Node& node, size_t place) const {
    const Array* const array = constant(node, place);
    return array && array->dtype() == dtype_ && array->size() > 0 ? array : nullptr;
  }
  template <class T>
  static T attribute(const Node& node, const char* name, T otherwise) {
    const T* const value = find_attribute<T>(node, name);
    return value ? *value : otherwise;
  }
  static bool is(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

  bool goes_on(const Node& node) {
    value_ = node.outputs[0];
    return true;
  }
  DenseLayer& layer() { return layers_.empty() ? layers_.emplace_back() : layers_.back(); }
  bool acts(const Node& node, Activation activation) {
    layer().activations.push_back(std::move(activation));
    return goes_on(node);
  }

  /// MatMul and Gemm by a constant from the right.
  bool takes_product(const Node& node) {
    const bool is_gemm = is(node, "Gemm");
    if ((!is_gemm && !is(node, "MatMul")) || node.inputs[0] != value_ || attribute<int64_t>(node, "transA", 0))
      return false;
    const Array* const matrix = weight(node, 1);
    if (!matrix || matrix->ndim() != 2) return false;
    DenseLayer made;
    const auto alpha = attribute(node, "alpha", 1.0);
    const auto beta = attribute(node, "beta", 1.0);
    made.weight = is_gemm && attribute<int64_t>(node, "transB", 0) ? *matrix : matrix->transpose();
    if (width_ >= 0 && made.weight.shape(1) != width_) return false;
    if (is_gemm && alpha != 1) made.weight = multiply(made.weight, alpha).astype(dtype_, false);
    width_ = made.weight.shape(0);
    layers_.push_back(std::move(made));
    if (!is_gemm || node.inputs.size() < 3 || node.inputs[2].empty()) return goes_on(node);
    return takes_numbers(node, weight(node, 2), beta);
  }

  /// The sum with a constant that has a number for each output.
  bool takes_bias(const Node& node) {
    if (!is(node, "Add") || layers_.empty() || !layers_.back().weight.valid() || layers_.back().bias.valid() ||
        !layers_.back().activations.empty())
      return false;
    return takes_numbers(node, weight(node, node.inputs[0] == value_ ? 1 : 0), 1);
  }
  bool takes_numbers(const Node& node, const Array* numbers, double factor) {
    if (!numbers || numbers->ndim() > 2 || (numbers->size() != 1 && !is_row(*numbers))) return false;
    const Array scaled = factor == 1 ? *numbers : multiply(*numbers, factor).astype(dtype_, false);
    layers_.back().bias = scaled.reshape({-1}).broadcast_to({width_}).contiguous();
    return goes_on(node);
  }
  bool is_row(const Array& x) const { return x.ndim() > 0 && x.size() == width_ && x.shape(x.ndim() - 1) == width_; }

  bool takes_nothing(const Node& node) {
    const bool is_flat = is(node, "Flatten") && attribute<int64_t>(node, "axis", 1) == 1;
    return (is_flat || is(node, "Identity")) && goes_on(node);
  }

  bool takes_activation(const Node& node) {
    if (is(node, "Softmax")) return takes_softmax(node);
    if (is(node, "PRelu") && node.inputs[0] == value_) {
      const Array* const slopes = weight(node, 1);
      if (!slopes || slopes->ndim() > 2 || (slopes->size() != 1 && !is_row(*slopes))) return false;
      return acts(node, {Activation::Kind::prelu, {}, slopes->reshape({-1})});
    }
    const auto* const row = std::ranges::find(kActivations, node.op, &ActivationRow::op);
    if (row == std::end(kActivations) || !node.domain.empty()) return false;
    Activation made{row->kind};
    if (*row->parameter) made.parameters = {pointwise_number(*find_pointwise(node.op), node, row->parameter)};
    if (row->kind == Activation::Kind::softplus) made.parameters = {1, 20};
    if (row->kind == Activation::Kind::silu && attribute(node, "alpha", 1.0) != 1.0) return false;
    if (attribute<std::string>(node, "approximate", "none") == "tanh") made.kind = Activation::Kind::gelu_tanh;
    return acts(node, std::move(made));
  }

  bool takes_softmax(const Node& node) {
    const auto opset = graph_.opsets.find("");
    const bool is_old = opset != graph_.opsets.end() && opset->second < 13;
    const int64_t axis = attribute<int64_t>(node, "axis", is_old ? 1 : -1);
    return (axis == 1 || axis == -1) && acts(node, {Activation::Kind::softmax});
  }

  /// x f(x), as files before version 20 and 24 of the operator set write silu, hardswish and gelu.
  bool takes_product_of_functions() {
    const auto users = users_.users(value_);
    if (users.size() != 2 || users_.is_output(value_)) return false;
    const Node &first = graph_.nodes[users[0]], &last = graph_.nodes[users[1]];
    if (!is(last, "Mul") || first.outputs.size() != 1) return false;
    if (is(first, "Sigmoid") && joins(last, first)) return acts(last, {Activation::Kind::silu});
    if (is(first, "HardSigmoid") && std::abs(attribute(first, "alpha", 0.2) - 1 / 6.0) < 1e-6 &&
        attribute(first, "beta", 0.5) == 0.5 && joins(last, first))
      return acts(last, {Activation::Kind::hardswish});
    return takes_gelu(first, last);
  }
  /// Whether a node combines x with what only another node makes of it.
  bool joins(const Node& product, const Node& function) const {
    const std::string& made = function.outputs[0];
    const bool is_pair = product.inputs.size() == 2 && ((product.inputs[0] == value_ && product.inputs[1] == made) ||
                                                        (product.inputs[1] == value_ && product.inputs[0] == made));
    return is_pair && only_user(made) == &product;
  }
  /// x / sqrt(2), Erf, + 1, times x, times 1/2.
  bool takes_gelu(const Node& scaled, const Node& product) {
    if (!is(scaled, "Div") || scaled.inputs[0] != value_ || !is_number(scaled, 1, std::sqrt(2.0))) return false;
    const Node* const erf = only_user(scaled.outputs[0]);
    const Node* const sum = erf && is(*erf, "Erf") ? only_user(erf->outputs[0]) : nullptr;
    if (!sum || !is(*sum, "Add") || !has_number(*sum, 1) || !joins(product, *sum)) return false;
    const Node* const half = only_user(product.outputs[0]);
    return half && is(*half, "Mul") && has_number(*half, 0.5) && acts(*half, {Activation::Kind::gelu});
  }
  bool is_number(const Node& node, size_t place, double wanted) const {
    const Array* const number = weight(node, place);
    return number && number->size() == 1 && std::abs(number->item().as_double() - wanted) < 1e-6;
  }
  bool has_number(const Node& node, double wanted) const {
    return is_number(node, 0, wanted) || is_number(node, 1, wanted);
  }

  const Graph& graph_;
  const NodeUsers users_;
  std::string value_;  ///< how far the chain is read
  Dtype dtype_ = Dtype::float32;
  int64_t width_ = -1;
  std::vector<DenseLayer> layers_;
};

}  // namespace

std::optional<Perceptron> perceptron_of(const Graph& graph, Device& device) {
  std::vector<DenseLayer> layers = Chain(graph).read();
  if (layers.empty() || layers.size() > Perceptron::kDeepest) return {};
  for (DenseLayer& layer : layers) {
    if (!layer.weight.valid()) continue;
    if (std::max(layer.weight.shape(0), layer.weight.shape(1)) > Perceptron::kWidest) return {};
    layer.weight = layer.weight.to_device(device);
    if (layer.bias.valid()) layer.bias = layer.bias.to_device(device);
  }
  for (DenseLayer& layer : layers) {
    for (Activation& activation : layer.activations) {
      if (activation.weight.valid()) activation.weight = activation.weight.to_device(device);
    }
  }
  return Perceptron(std::move(layers));
}

}  // namespace iruka::nn
