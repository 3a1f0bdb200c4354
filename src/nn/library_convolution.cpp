#include "nn/library_convolution.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_map>

#include "core/device.h"
#include "nn/channels_last.h"
#include "nn/doubles.h"
#include "nn/fusion.h"
#include "nn/joined_convolution.h"
#include "nn/node_users.h"
#include "nn/operators/library_convolution.h"
#include "nn/pointwise_group.h"

namespace iruka::nn {
namespace {

constexpr const char* kLibraryConvolution = "LibraryConvolution";
/// Inputs of such a node before those of the pointwise group: x, weights, the sum of biases, the other array.
constexpr size_t kOwnInputs = 4;

/// A function of a sum, with its numbers.
struct Applied {
  ConvolutionFunction function = ConvolutionFunction::none;
  double numbers[2] = {};
};

/// A pointwise group that adds up values, element by element and for channels, and applies a function to the sum.
struct Sum {
  std::vector<std::string> elements, biases;
  Applied applied;

  bool has_function(ConvolutionFunction function) const { return applied.function == function; }
  bool is_plain() const { return has_function(ConvolutionFunction::none); }
};

/// x sigmoid(x) of a plain sum and its sigmoid, in any order: how files before version 24 of the operator set write
/// silu.
std::optional<Sum> silu_of(const Sum& a, const Sum& b) {
  const Sum &x = a.is_plain() ? a : b, &factor = a.is_plain() ? b : a;
  if (!x.is_plain() || !factor.has_function(ConvolutionFunction::sigmoid) || x.elements != factor.elements ||
      x.biases != factor.biases)
    return {};
  Sum made = x;
  made.applied.function = ConvolutionFunction::silu;
  return made;
}

/// Beyond this x, log(1 + exp(x)) is x in float64, too.
constexpr double kLargestOfSoftplus = 40;

/// What a pointwise node is to its first input; nothing where convolutions do not have such a function. `constant`
/// gives the number of an input, if it is one.
template <class Constant>
std::optional<Applied> applied_by(const Node& node, Constant&& constant) {
  using enum ConvolutionFunction;
  const auto number = [&](const char* name) { return pointwise_number(*find_pointwise(node.op), node, name); };
  if (!node.domain.empty()) return {};
  if (node.op == "Relu") return Applied{relu};
  if (node.op == "LeakyRelu") return Applied{leaky_relu, {number("alpha")}};
  if (node.op == "HardSigmoid") return Applied{hard_sigmoid, {number("alpha"), number("beta")}};
  if (node.op == "HardSwish") return Applied{hard_swish};
  if (node.op == "Tanh") return Applied{tanh};
  if (node.op == "Sigmoid") return Applied{sigmoid};
  if (node.op == "Swish" && number("alpha") == 1) return Applied{silu};
  if (node.op == "Elu") return Applied{elu, {number("alpha")}};
  if (node.op == "Softplus") return Applied{softplus, {1, kLargestOfSoftplus}};
  if (node.op == "Gelu") {
    const auto* const way = find_attribute<std::string>(node, "approximate");
    return Applied{way && *way == "tanh" ? gelu_tanh : gelu};
  }
  if (node.op != "Clip" || node.inputs.size() > 3) return {};
  if (node.attributes.contains("min") || node.attributes.contains("max"))
    return Applied{clip, {number("min"), number("max")}};
  Applied made{clip, {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}};
  for (size_t k = 1; k < node.inputs.size(); ++k) {
    if (node.inputs[k].empty()) continue;
    const std::optional<double> bound = constant(node.inputs[k]);
    if (!bound || *bound != *bound) return {};
    made.numbers[k - 1] = *bound;
  }
  return made;
}

template <class Constant>
std::optional<Sum> sum_of(const Node& fused, Constant&& constant) {
  const PointwiseGroup group(fused);
  const Graph& body = *std::get<GraphHandle>(fused.attributes.at("body"));
  std::unordered_map<std::string, Sum> values;
  std::unordered_map<std::string, std::string> outside;  // names of inputs
  for (size_t k = 0; k < body.inputs.size(); ++k) {
    Sum& input = values[body.inputs[k].name];
    (group.is_by_channel(k) ? input.biases : input.elements).push_back(fused.inputs[k]);
    outside[body.inputs[k].name] = fused.inputs[k];
  }
  const auto number = [&](const std::string& name) {
    const auto found = outside.find(name);
    return found == outside.end() ? std::optional<double>() : constant(found->second);
  };
  for (const Node& node : body.nodes) {
    const bool is_sum = (node.op == "Add" && node.domain.empty()) || node.op == kShift;
    const bool is_product = node.op == "Mul" && node.domain.empty();
    const std::optional<Applied> applied = is_sum || is_product ? std::nullopt : applied_by(node, number);
    if (!((is_sum || is_product) && node.inputs.size() == 2) && !applied) return {};
    if (node.inputs.empty() || node.outputs.empty()) return {};
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const bool is_left_out = k > 0 && applied && node.inputs[k].empty();  // a bound of Clip
      if (!is_left_out && !values.contains(node.inputs[k])) return {};
    }
    Sum made = values.at(node.inputs[0]);
    if (made.elements.empty() || (!made.is_plain() && !is_product)) return {};
    if (is_product) {
      const std::optional<Sum> silu = silu_of(made, values.at(node.inputs[1]));
      if (!silu) return {};
      made = *silu;
    } else if (is_sum) {
      const Sum& other = values.at(node.inputs[1]);
      if (!other.is_plain() || (node.op == "Add" && other.elements.empty())) return {};
      made.elements.insert(made.elements.end(), other.elements.begin(), other.elements.end());
      made.biases.insert(made.biases.end(), other.biases.begin(), other.biases.end());
    } else {
      made.applied = *applied;
    }
    values[node.outputs[0]] = std::move(made);
  }
  return values.at(body.nodes.back().outputs[0]);
}

/// Joins the convolutions of one graph with the groups behind them.
class Joining {
 public:
  Joining(Graph& graph, const Convolutions& library) : graph_(graph), library_(library), users_(graph) {}

  void run() {
    std::vector<bool> is_joined(graph_.nodes.size());
    for (Node& node : graph_.nodes) {
      if (!is_fused(node)) continue;
      if (const auto place = join(node)) is_joined[*place] = true;
    }
    size_t place = 0;
    std::erase_if(graph_.nodes, [&](const Node&) { return is_joined[place++]; });
    for (Node& node : graph_.nodes) {
      if (is_convolution(node)) use_library(node);
    }
  }

 private:
  /// Makes the group a node with the convolution that it adds to; gives the convolution's place.
  std::optional<size_t> join(Node& fused) {
    const std::optional<Sum> sum = sum_of(fused, [&](const std::string& name) { return number(name); });
    if (!sum || sum->elements.size() > 2 || !library_.applies(sum->applied.function)) return {};
    if (sum->elements.size() == 2 && sum->elements[0] == sum->elements[1]) return {};
    std::optional<size_t> place;  // of the last one: the other value is known there
    for (const std::string& element : sum->elements) {
      const size_t* const maker = users_.maker(element);
      const bool is_alone = users_.users(element).size() == 1 && !users_.is_output(element);
      if (!maker || !is_alone || !is_convolution(graph_.nodes[*maker])) continue;
      place = std::max(place.value_or(0), *maker);
    }
    if (!place) return {};
    const Node& convolution = graph_.nodes[*place];
    const std::string& value = convolution.outputs[0];
    const std::optional<std::string> bias = sum_of_biases(*sum, value);
    if (!bias) return {};
    Node joined = convolution;
    use_library(joined);
    joined.inputs[2] = *bias;
    for (const std::string& element : sum->elements)
      if (element != value) joined.inputs.back() = element;
    for (size_t k = 0; k < fused.inputs.size(); ++k) {
      if (fused.inputs[k] == value)
        joined.attributes[kJoinedPlace] = static_cast<int64_t>(k);
      else
        joined.inputs.push_back(fused.inputs[k]);
    }
    joined.attributes[kJoinedBody] = fused.attributes.at("body");
    joined.attributes[kJoinedFunction] = static_cast<int64_t>(sum->applied.function);
    joined.attributes[kJoinedNumbers] =
        std::vector<double>(std::begin(sum->applied.numbers), std::end(sum->applied.numbers));
    joined.outputs = fused.outputs;
    fused = std::move(joined);
    return place;
  }

  /// Whether it has constant weights and no biases of its own.
  bool is_convolution(const Node& node) const {
    return node.op == "Conv" && node.domain.empty() && node.outputs.size() == 1 &&
           (node.inputs.size() == 2 || (node.inputs.size() == 3 && node.inputs[2].empty())) &&
           graph_.initializers.contains(node.inputs[1]);
  }
  static void use_library(Node& convolution) {
    convolution.op = kLibraryConvolution, convolution.domain = kOwnDomain;
    convolution.inputs.resize(kOwnInputs);
  }

  /// The value of a constant of one element.
  std::optional<double> number(const std::string& name) const {
    const auto found = graph_.initializers.find(name);
    if (found == graph_.initializers.end() || found->second.size() != 1) return {};
    return found->second.item().as_double();
  }

  /// The name of a constant; empty where there are no biases, nothing where they are no constants that fit each other.
  std::optional<std::string> sum_of_biases(const Sum& sum, const std::string& value) {
    std::vector<Array> biases;
    for (const std::string& name : sum.biases) {
      const auto found = graph_.initializers.find(name);
      if (found == graph_.initializers.end()) return {};
      if (!biases.empty() && (found->second.dtype() != biases[0].dtype() || found->second.size() != biases[0].size()))
        return {};
      biases.push_back(found->second);
    }
    if (biases.empty()) return std::string();
    if (biases.size() == 1) return sum.biases[0];
    std::vector<double> total(static_cast<size_t>(biases[0].size()));
    for (const Array& bias : biases) std::ranges::transform(total, doubles_of(bias), total.begin(), std::plus());
    const Array made = array_of(total, {biases[0].size()}, biases[0].dtype());
    std::string name = value + ".biases";
    while (!graph_.initializers.try_emplace(name, made).second) name += "'";
    return name;
  }

  Graph& graph_;
  const Convolutions& library_;
  const NodeUsers users_;
};

class LibraryConvolution {
 public:
  explicit LibraryConvolution(const Node& node) : joined_(node, kOwnInputs) {
    if (const auto* const function = find_attribute<int64_t>(node, kJoinedFunction))
      applied_.function = static_cast<ConvolutionFunction>(*function);
    if (const auto* const numbers = find_attribute<std::vector<double>>(node, kJoinedNumbers))
      std::ranges::copy(*numbers, applied_.numbers);
  }

  Results run(const Call& call) const {
    const Array inputs[] = {call[0], call[1]};
    const Call alone(joined_.convolution(), call.opset(), call.device(), inputs, {}, 2);
    const auto given = [&](size_t input) { return call.has(input) ? call[input] : Array(); };
    const Epilogue epilogue{given(2), given(3), applied_.function, {applied_.numbers[0], applied_.numbers[1]}};
    const auto made = convolved_by_library(alone, epilogue, prepared_, window_);
    if (!made) return joined_.run_apart(call);
    const bool is_wide = !joined_.group() && alone.integer(kIsWide, 0);  // a node that follows rounds
    return {is_wide ? *made : made->astype(call[0].dtype(), false)};
  }

 private:
  const JoinedConvolution joined_;
  Applied applied_;
  mutable PreparedWeights prepared_;
  mutable KnownWindow window_;
};

bool has_weights(const Node& node) {
  const bool is_own = node.domain == kOwnDomain && node.op == kLibraryConvolution;
  return is_own || (node.domain.empty() && (node.op == "Conv" || node.op == "ConvTranspose") && node.inputs.size() > 1);
}

}  // namespace

void use_library_convolutions(Graph& graph, Device& device, Precision precision) {
  const Convolutions* const library = find_convolutions(device);
  if (!library) return;
  Joining(graph, *library).run();
  if (device.target().is_host) return;  // its library has an order of its own
  for (const Node& node : graph.nodes) {
    const auto weights = has_weights(node) ? graph.initializers.find(node.inputs[1]) : graph.initializers.end();
    if (weights == graph.initializers.end() || weights->second.ndim() < 3) continue;
    if (library->prefers_channels_last(weights->second.dtype(), precision))
      weights->second = as_channels_last(weights->second);
  }
}

std::string library_convolution_text(const Node& node) {
  const auto body = node.attributes.find(kJoinedBody);
  std::string text;
  if (body == node.attributes.end()) return text;
  for (const Node& inner : std::get<GraphHandle>(body->second)->nodes) text += "+" + inner.op;
  return text;
}

bool is_library_convolution(const Node& node) { return node.domain == kOwnDomain && node.op == kLibraryConvolution; }

Run library_convolution_run(const Node& node) {
  return [made = std::make_shared<const LibraryConvolution>(node)](const Call& call) { return made->run(call); };
}

std::string library_convolution_note(const Graph& graph, Device& device) {
  Convolutions* const library = device.find_service<Convolutions>();
  if (!library || library->problem().empty() || std::ranges::none_of(graph.nodes, has_weights)) return {};
  return "convolutions run as products of matrices, because " + library->problem();
}

}  // namespace iruka::nn
