#include "nn/library_convolution.h"

#include <algorithm>
#include <unordered_map>

#include "core/device.h"
#include "iruka/ops.h"
#include "nn/channels_last.h"
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

/// A pointwise group that adds up values, element by element and for channels.
struct Sum {
  std::vector<std::string> elements, biases;
  bool is_rectified = false;
};

std::optional<Sum> sum_of(const Node& fused) {
  const PointwiseGroup group(fused);
  const Graph& body = *std::get<GraphHandle>(fused.attributes.at("body"));
  std::unordered_map<std::string, Sum> values;
  for (size_t k = 0; k < body.inputs.size(); ++k) {
    Sum& input = values[body.inputs[k].name];
    (group.is_by_channel(k) ? input.biases : input.elements).push_back(fused.inputs[k]);
  }
  for (const Node& node : body.nodes) {
    const bool is_sum = (node.op == "Add" && node.domain.empty()) || node.op == kShift;
    if (!(is_sum && node.inputs.size() == 2) && node.op != "Relu") return {};
    if (std::ranges::any_of(node.inputs, [&](const std::string& input) { return !values.contains(input); })) return {};
    Sum made = values.at(node.inputs[0]);
    if (made.is_rectified || made.elements.empty()) return {};
    if (is_sum) {
      const Sum& other = values.at(node.inputs[1]);
      if (other.is_rectified || (node.op == "Add" && other.elements.empty())) return {};
      made.elements.insert(made.elements.end(), other.elements.begin(), other.elements.end());
      made.biases.insert(made.biases.end(), other.biases.begin(), other.biases.end());
    }
    made.is_rectified = node.op == "Relu";
    values[node.outputs[0]] = std::move(made);
  }
  return values.at(body.nodes.back().outputs[0]);
}

/// Joins the convolutions of one graph with the groups behind them.
class Joining {
 public:
  explicit Joining(Graph& graph) : graph_(graph), users_(graph) {}

  void run() {
    std::vector<bool> is_joined(graph_.nodes.size());
    for (Node& node : graph_.nodes) {
      if (!is_fused(node)) continue;
      if (const auto place = join(node)) is_joined[*place] = true;
    }
    size_t place = 0;
    std::erase_if(graph_.nodes, [&](const Node&) { return is_joined[place++]; });
  }

 private:
  /// Makes the group a node with the convolution that it adds to; gives the convolution's place.
  std::optional<size_t> join(Node& fused) {
    const std::optional<Sum> sum = sum_of(fused);
    if (!sum || sum->elements.size() > 2) return {};
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
    joined.op = kLibraryConvolution, joined.domain = kOwnDomain;
    joined.inputs.resize(2);
    joined.inputs.push_back(*bias);
    joined.inputs.emplace_back();
    for (const std::string& element : sum->elements)
      if (element != value) joined.inputs.back() = element;
    for (size_t k = 0; k < fused.inputs.size(); ++k) {
      if (fused.inputs[k] == value)
        joined.attributes["place"] = static_cast<int64_t>(k);
      else
        joined.inputs.push_back(fused.inputs[k]);
    }
    joined.attributes["body"] = fused.attributes.at("body");
    joined.attributes["is_rectified"] = static_cast<int64_t>(sum->is_rectified);
    joined.outputs = fused.outputs;
    fused = std::move(joined);
    return place;
  }

  static bool is_convolution(const Node& node) {
    return node.op == "Conv" && node.domain.empty() && node.outputs.size() == 1 &&
           (node.inputs.size() == 2 || (node.inputs.size() == 3 && node.inputs[2].empty()));
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
    Array total = biases[0].astype(Dtype::float64).reshape({-1});
    for (size_t k = 1; k < biases.size(); ++k)
      total = iruka::add(total, biases[k].astype(Dtype::float64).reshape({-1}));
    std::string name = value + ".biases";
    while (!graph_.initializers.try_emplace(name, total.astype(biases[0].dtype())).second) name += "'";
    return name;
  }

  Graph& graph_;
  const NodeUsers users_;
};

class LibraryConvolution {
 public:
  explicit LibraryConvolution(const Node& node)
      : joined_(node, kOwnInputs), is_rectified_(std::get<int64_t>(node.attributes.at("is_rectified")) != 0) {}

  Results run(const Call& call) const {
    const Array inputs[] = {call[0], call[1]};
    const Call alone(joined_.convolution(), call.opset(), call.device(), inputs, {}, 2);
    const auto given = [&](size_t input) { return call.has(input) ? call[input] : Array(); };
    if (auto made = convolved_by_library(alone, {given(2), given(3), is_rectified_})) return {*std::move(made)};
    return joined_.run_apart(call);
  }

 private:
  const JoinedConvolution joined_;
  const bool is_rectified_;
};

bool has_weights(const Node& node) {
  const bool is_own = node.domain == kOwnDomain && node.op == kLibraryConvolution;
  return is_own || (node.domain.empty() && (node.op == "Conv" || node.op == "ConvTranspose") && node.inputs.size() > 1);
}

}  // namespace

void use_library_convolutions(Graph& graph, Device& device, Precision precision) {
  const Convolutions* const library = find_convolutions(device);
  if (!library) return;
  Joining(graph).run();
  for (const Node& node : graph.nodes) {
    const auto weights = has_weights(node) ? graph.initializers.find(node.inputs[1]) : graph.initializers.end();
    if (weights == graph.initializers.end() || weights->second.ndim() < 3) continue;
    if (library->prefers_channels_last(weights->second.dtype(), precision))
      weights->second = as_channels_last(weights->second);
  }
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
