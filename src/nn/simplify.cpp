#include "nn/simplify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "core/allocation_budget.h"
#include "nn/doubles.h"
#include "nn/files/input.h"
#include "nn/fusion.h"
#include "nn/inlining.h"
#include "nn/operators/operator.h"
#include "nn/pointwise_table.h"
#include "nn/program.h"
#include "ops/functions.h"

namespace iruka::nn {
namespace {

/// A number of each channel is multiplied by its scale, and its shift is added.
struct ChannelMap {
  std::vector<double> scale, shift;
};

/// What folding may allocate in all: so many bytes, and so often those of the file's own constants. Nodes that need
/// more are computed in each run.
constexpr size_t kFoldedBytes = size_t{64} << 20, kFoldedTimes = 4;

void collect_buffers(const Graph& graph, std::set<const Buffer*>& buffers) {
  for (const auto& [name, array] : graph.initializers) buffers.insert(array.buffer().get());
  for (const Node& node : graph.nodes) {
    collect_buffers(node, buffers);
    for (const GraphHandle& inner : graphs_of(node)) collect_buffers(*inner, buffers);
  }
}

size_t folding_budget(const Graph& graph) {
  std::set<const Buffer*> buffers;
  collect_buffers(graph, buffers);
  size_t bytes = 0;
  for (const Buffer* buffer : buffers) bytes += buffer->bytes();
  return kFoldedBytes + kFoldedTimes * bytes;
}

bool has_graphs(const Node& node) { return !graphs_of(node).empty(); }

/// A node's name, or that of its first output.
const std::string& label_of(const Node& node) {
  return node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
}

/// Whether C of a Gemm is constant and broadcasts to its product, as the operator asks; a sum takes other shapes, too.
bool is_bias(const Graph& graph, const Node& gemm) {
  const auto weight = graph.initializers.find(gemm.inputs[1]), bias = graph.initializers.find(gemm.inputs[2]);
  if (weight == graph.initializers.end() || bias == graph.initializers.end()) return false;
  const Array &matrix = weight->second, &numbers = bias->second;
  const auto* transposed = find_attribute<int64_t>(gemm, "transB");
  if (matrix.ndim() != 2 || numbers.ndim() > 2) return false;
  const int64_t outputs = matrix.shape(transposed && *transposed ? 0 : 1);
  return numbers.size() == 1 || (numbers.size() == outputs && numbers.shape(numbers.ndim() - 1) == outputs);
}

/// A bias is a pointwise node behind its convolution or product, so that it is fused with the activation.
void split_biases(Graph& graph) {
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (Node& node : nodes) {
    const bool is_gemm = node.op == "Gemm";
    const auto* beta = find_attribute<double>(node, "beta");
    const bool is_split =
        node.domain.empty() && node.outputs.size() == 1 && node.inputs.size() > 2 && !node.inputs[2].empty() &&
        (node.op == "Conv" || node.op == "ConvTranspose" || (is_gemm && (!beta || *beta == 1) && is_bias(graph, node)));
    if (!is_split) {
      graph.nodes.push_back(std::move(node));
      continue;
    }
    Node bias{is_gemm ? kBias : kShift, kOwnDomain, node.name, {}, node.outputs, {}};
    node.outputs[0] += ".product", node.attributes[kIsWide] = int64_t{1};
    bias.inputs = {node.outputs[0], node.inputs[2]};
    node.inputs.resize(2);
    graph.nodes.push_back(std::move(node));
    graph.nodes.push_back(std::move(bias));
  }
}

void drop_unused(Graph& graph) {
  std::set<std::string> used;
  for (const TensorInfo& output : graph.outputs) used.insert(output.name);
  std::vector<Node> kept;
  for (size_t k = graph.nodes.size(); k-- > 0;) {
    Node& node = graph.nodes[k];
    if (std::ranges::none_of(node.outputs, [&](const std::string& name) { return used.contains(name); })) continue;
    used.insert(node.inputs.begin(), node.inputs.end());
    if (has_graphs(node) && !is_fused(node)) {
      Graph around;
      around.nodes.push_back(node);
      for (const std::string& name : captured_names(around)) used.insert(name);
    }
    kept.push_back(std::move(node));
  }
  std::ranges::reverse(kept);
  graph.nodes = std::move(kept);
  std::erase_if(graph.initializers, [&](const auto& entry) { return !used.contains(entry.first); });
}

/// One pass over a graph's nodes, in which each is dropped, kept or replaced.
class Simplifier {
 public:
  /// `budget`: the bytes that folding may still allocate, of all graphs of the model.
  Simplifier(Graph& graph, const std::map<std::string, int64_t>& opsets, size_t& budget)
      : graph_(graph), opsets_(opsets), budget_(budget) {}

  void run() {
    count_uses();
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      if (std::ranges::all_of(node.outputs, [](const std::string& name) { return name.empty(); })) continue;
      simplify_graphs(node);
      for (std::string& input : node.inputs) input = renamed(input);
      if (is_removed(node) || is_folded(node)) continue;
      if (node.op == "BatchNormalization" && node.domain.empty() && fold_batch_norm(node)) continue;
      add(std::move(node));
    }
    drop_unused(graph_);
  }

 private:
  void count_uses() {
    for (const Node& node : graph_.nodes) {
      for (const std::string& input : node.inputs) ++uses_[input];
      if (!has_graphs(node)) continue;
      Graph around;
      around.nodes.push_back(node);
      for (const std::string& name : captured_names(around)) captured_.insert(name);
    }
    for (const TensorInfo& output : graph_.outputs) captured_.insert(output.name);
  }

  void simplify_graphs(Node& node) {
    const auto simpler = [&](const GraphHandle& graph) {
      Graph copy = *graph;
      Simplifier(copy, opsets_, budget_).run();
      join_pointwise(copy);
      return std::make_shared<const Graph>(std::move(copy));
    };
    for (auto& [name, attribute] : node.attributes) replace_graphs(attribute, simpler);
  }

  const std::string& renamed(const std::string& name) const {
    const auto found = renamed_.find(name);
    return found == renamed_.end() ? name : found->second;
  }

  const Array* constant(const std::string& name) const {
    const auto found = graph_.initializers.find(name);
    return found == graph_.initializers.end() ? nullptr : &found->second;
  }

  /// Identity, and Dropout that is not trained. A graph's outputs and what inner graphs use keep their names.
  bool is_removed(const Node& node) {
    if (!node.domain.empty() || (node.op != "Identity" && node.op != "Dropout")) return false;
    if (node.inputs.empty() || node.inputs[0].empty() || node.outputs[0].empty() || captured_.contains(node.outputs[0]))
      return false;
    if (node.outputs.size() > 1 && !node.outputs[1].empty()) return false;
    if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
      const Array* const is_trained = constant(node.inputs[2]);
      if (!is_trained || is_trained->size() != 1 || is_trained->item().as_bool()) return false;
    }
    uses_[node.inputs[0]] += uses_[node.outputs[0]] - 1;
    renamed_[node.outputs[0]] = node.inputs[0];
    return true;
  }

  /// What depends on constants alone becomes one. What fails, or asks for more memory than the budget has, is left to
  /// the run that needs it.
  bool is_folded(const Node& node) {
    if (!node.domain.empty() || has_graphs(node)) return false;
    std::vector<Array> inputs;
    for (const std::string& input : node.inputs) {
      const Array* const array = input.empty() ? nullptr : constant(input);
      if (!array && !input.empty()) return false;
      inputs.push_back(array ? *array : Array());
    }
    const AllocationBudgetScope scope(budget_);
    try {
      Results results = run_node(is_pointwise(node) ? fused_node(node) : node, opsets_, std::move(inputs));
      for (Array& result : results) result = result.valid() ? result.contiguous() : result;
      results.resize(node.outputs.size());
      for (size_t k = 0; k < results.size(); ++k) {
        if (!node.outputs[k].empty() && !results[k].valid()) return false;
      }
      for (size_t k = 0; k < results.size(); ++k) {
        if (!node.outputs[k].empty()) graph_.initializers[node.outputs[k]] = results[k];
      }
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    } catch (const std::length_error&) {
      return false;
    }
    budget_ -= scope.taken();
    return true;
  }

  static Node fused_node(const Node& node) {
    Graph body;
    body.nodes.push_back(node);
    fuse_pointwise(body);
    return body.nodes[0];
  }

  void add(Node node) {
    for (const std::string& output : node.outputs) makers_[output] = graph_.nodes.size();
    graph_.nodes.push_back(std::move(node));
  }

  std::string new_initializer(const std::string& base, Array array) {
    std::string name = base;
    while (!graph_.initializers.try_emplace(name, array).second) name += "'";
    return name;
  }

  /// scale * (x - mean) / sqrt(var + epsilon) + shift with numbers that do not change: into the weights of the node
  /// before it, or a product and a sum for each channel.
  bool fold_batch_norm(const Node& node) {
    const auto* training = find_attribute<int64_t>(node, "training_mode");
    if (node.inputs.size() != 5 || node.outputs[0].empty() || (training && *training != 0)) return false;
    for (size_t k = 1; k < node.outputs.size(); ++k) {
      if (!node.outputs[k].empty()) return false;
    }
    std::vector<double> numbers[4];
    for (size_t k = 1; k < 5; ++k) {
      const Array* const array = constant(node.inputs[k]);
      if (!array || array->ndim() != 1) return false;
      numbers[k - 1] = doubles_of(*array);
      if (numbers[k - 1].size() != numbers[0].size()) return false;
    }
    const auto* epsilon = find_attribute<double>(node, "epsilon");
    const auto& [scale, bias, mean, variance] = numbers;
    ChannelMap map{scale, bias};
    for (size_t k = 0; k < scale.size(); ++k) {
      map.scale[k] /= std::sqrt(variance[k] + (epsilon ? *epsilon : static_cast<double>(1e-5F)));
      map.shift[k] -= mean[k] * map.scale[k];
    }
    if (fold_into_maker(node, map)) return true;
    const Dtype dtype = compute_dtype(constant(node.inputs[1])->dtype());
    const Dims shape{std::ssize(map.scale)};
    Node made{kScaleShift, kOwnDomain, node.name, {node.inputs[0]}, {node.outputs[0]}, {}};
    made.inputs.push_back(new_initializer(node.outputs[0] + ".scale", array_of(map.scale, shape, dtype)));
    made.inputs.push_back(new_initializer(node.outputs[0] + ".shift", array_of(map.shift, shape, dtype)));
    add(std::move(made));
    return true;
  }

  bool fold_into_maker(const Node& norm, const ChannelMap& map) {
    const auto found = makers_.find(norm.inputs[0]);
    if (found == makers_.end() || uses_[norm.inputs[0]] != 1 || captured_.contains(norm.inputs[0])) return false;
    Node& maker = graph_.nodes[found->second];
    const bool is_gemm = maker.op == "Gemm";
    if (!maker.domain.empty() || (!is_gemm && maker.op != "Conv" && maker.op != "ConvTranspose")) return false;
    if (maker.inputs.size() < 2) return false;
    const Array* const weight = constant(maker.inputs[1]);
    const bool has_bias = maker.inputs.size() > 2 && !maker.inputs[2].empty();
    const Array* const bias = has_bias ? constant(maker.inputs[2]) : nullptr;
    if (!weight || (has_bias && !bias)) return false;
    if (is_gemm ? weight->ndim() != 2 : weight->ndim() < 3) return false;
    const std::vector<double>& scale = map.scale;
    if (bias && bias->shape() != Dims{std::ssize(scale)}) return false;
    // Products of narrow floats may overflow, where the numbers of the two nodes do not.
    if (weight->dtype() != Dtype::float32 && weight->dtype() != Dtype::float64) return false;
    const auto* beta = find_attribute<double>(maker, "beta");
    if (is_gemm && beta && *beta != 1) return false;
    const std::optional<OutputAxis> axis = output_axis(maker, *weight);
    if (!axis || axis->groups * axis->outputs != std::ssize(scale)) return false;
    std::vector<double> wide = doubles_of(*weight);
    for (size_t k = 0; k < wide.size(); ++k)
      wide[k] *= scale[static_cast<size_t>(axis->output_of(std::ssize(wide), k))];
    std::vector<double> shifted = bias ? doubles_of(*bias) : std::vector<double>(scale.size());
    for (size_t k = 0; k < shifted.size(); ++k) shifted[k] = shifted[k] * scale[k] + map.shift[k];
    const Dtype dtype = weight->dtype();
    maker.inputs.resize(3);
    maker.inputs[1] = new_initializer(norm.outputs[0] + ".weight", array_of(wide, weight->shape(), dtype));
    maker.inputs[2] = new_initializer(norm.outputs[0] + ".bias", array_of(shifted, {std::ssize(scale)}, dtype));
    maker.outputs[0] = norm.outputs[0];
    makers_[norm.outputs[0]] = found->second;
    return true;
  }

  /// Which output an element of weights belongs to: weights are (groups, inputs of a group, outputs of it, rest).
  struct OutputAxis {
    int64_t groups, outputs, rest;
    int64_t output_of(int64_t size, size_t element) const {
      const int64_t at = static_cast<int64_t>(element);
      return at / (size / groups) * outputs + at / rest % outputs;
    }
  };
  static std::optional<OutputAxis> output_axis(const Node& maker, const Array& weight) {
    const auto *transposed = find_attribute<int64_t>(maker, "transB"), *group = find_attribute<int64_t>(maker, "group");
    if (weight.size() == 0) return {};
    const auto rest = [&](int axis) { return extent_between(weight, axis, weight.ndim()); };
    if (maker.op == "Conv" || (maker.op == "Gemm" && transposed && *transposed))
      return OutputAxis{1, weight.shape(0), rest(1)};
    if (maker.op == "Gemm") return OutputAxis{1, weight.shape(1), 1};
    const int64_t groups = group ? *group : 1;
    if (groups < 1 || weight.shape(0) % groups != 0) return {};
    return OutputAxis{groups, weight.shape(1), rest(2)};
  }

  Graph& graph_;
  const std::map<std::string, int64_t>& opsets_;
  size_t& budget_;
  std::unordered_map<std::string, int> uses_;             ///< by nodes of this graph
  std::set<std::string> captured_;                        ///< names that inner graphs or callers use
  std::unordered_map<std::string, std::string> renamed_;  ///< outputs of removed nodes
  std::unordered_map<std::string, size_t> makers_;        ///< the node that gives a value
};

void find_missing(const std::vector<Node>& nodes, std::map<std::string, std::string>& missing) {
  for (const Node& node : nodes) {
    // A file may name what nn.Module makes of layers, but not what only this library makes of nodes.
    const bool is_known = node.domain.empty() || node.domain == kOwnDomain;
    if (!is_known || (!find_operator(node.op) && !is_pointwise(node.op))) {
      std::string& names = missing[node.domain.empty() ? node.op : node.domain + "." + node.op];
      names += (names.empty() ? "" : ", ") + in_quotes(label_of(node));
    }
    for (const GraphHandle& graph : graphs_of(node)) find_missing(graph->nodes, missing);
  }
}

/// Raises ValueError for a node whose graphs or attributes do not fit it.
void check_nodes(const std::vector<Node>& nodes, const std::string& where) {
  for (const Node& node : nodes) {
    std::string problem = control_problem(node);
    for (const auto& [name, attribute] : node.attributes)
      if (name.starts_with(kOwnAttribute)) problem = "there is no attribute " + in_quotes(name);
    if (problem.empty()) problem = pointwise_problem(node);
    if (problem.empty() && node.outputs.size() > 1 && !is_pointwise(node) && !find_operator(node.op))
      problem = "it has " + std::to_string(node.outputs.size()) + " outputs, but the operator gives one";
    if (!problem.empty())
      raise_value_error(where, "ONNX model: node " + in_quotes(label_of(node)) + " (" + node.op + "): " + problem);
    for (const GraphHandle& graph : graphs_of(node)) check_nodes(graph->nodes, where);
  }
}

}  // namespace

void join_pointwise(Graph& graph) {
  split_biases(graph);
  fuse_pointwise(graph);
  drop_unused(graph);
}

void check_operators(const Graph& graph, const std::string& where) {
  std::map<std::string, std::string> missing;
  find_missing(graph.nodes, missing);
  if (missing.empty()) return;
  std::string list;
  for (const auto& [op, names] : missing) list += (list.empty() ? "" : "; ") + op + " (nodes " + names + ")";
  raise_value_error(where, "ONNX model: Iruka has no operators " + list);
}

Graph simplified(Graph graph, const std::string& where) {
  inline_functions(graph, where);
  check_operators(graph, where);
  check_nodes(graph.nodes, where);
  const auto opset = graph.opsets.find("");
  if (opset != graph.opsets.end() && (opset->second < kOldestOpset || opset->second > kNewestOpset)) {
    raise_value_error(where, "ONNX model: it uses version " + std::to_string(opset->second) +
                                 " of the operator set; versions " + std::to_string(kOldestOpset) + " to " +
                                 std::to_string(kNewestOpset) + " are known");
  }
  const std::map<std::string, int64_t> opsets = graph.opsets;
  size_t budget = folding_budget(graph);
  Simplifier(graph, opsets, budget).run();
  return graph;
}

}  // namespace iruka::nn
