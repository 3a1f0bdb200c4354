#include "nn/fusion.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>

#include "nn/files/onnx_tensor.h"
#include "nn/pointwise_table.h"
#include "ops/permanent_cache.h"

namespace iruka::nn {

bool is_pointwise(const std::string& op) { return find_pointwise(op) != nullptr; }

bool is_pointwise(const Node& node) {
  const PointwiseRow* const row = find_pointwise(node.op);
  const bool is_known = node.domain.empty() || (node.domain == kOwnDomain && !is_fused(node));
  return row && is_known && pointwise_text(*row, node) && node.outputs.size() == 1;
}

namespace {

constexpr size_t kMostNodes = 64, kMostInputs = 24;

/// Groups of pointwise nodes, made from the last node to the first.
class Fusion {
 public:
  explicit Fusion(Graph& graph) : graph_(graph) {
    for (size_t k = 0; k < graph.nodes.size(); ++k) {
      for (const std::string& input : used_by(graph.nodes[k])) users_[input].push_back(k);
      for (const std::string& output : graph.nodes[k].outputs) makers_[output] = k;
    }
    for (const TensorInfo& output : graph.outputs) outputs_.insert(output.name);
    if (graph.outputs.empty() && !graph.nodes.empty()) outputs_.insert(graph.nodes.back().outputs[0]);
  }

  void run() {
    std::vector<bool> taken(graph_.nodes.size());
    std::vector<Node> made;
    for (size_t k = graph_.nodes.size(); k-- > 0;) {
      if (taken[k]) continue;
      if (!is_pointwise(graph_.nodes[k])) {
        made.push_back(std::move(graph_.nodes[k]));
        continue;
      }
      const std::set<size_t> group = group_of(k);
      for (size_t member : group) taken[member] = true;
      made.push_back(fused(group));
    }
    std::ranges::reverse(made);
    graph_.nodes = std::move(made);
  }

 private:
  static std::vector<std::string> used_by(const Node& node) {
    std::vector<std::string> names = node.inputs;
    for (const auto& [name, attribute] : node.attributes) {
      const auto add = [&](const GraphHandle& graph) {
        for (const Node& inner : graph->nodes) {
          for (std::string& used : used_by(inner)) names.push_back(std::move(used));
        }
        for (const TensorInfo& output : graph->outputs) names.push_back(output.name);
      };
      if (auto* graph = std::get_if<GraphHandle>(&attribute)) add(*graph);
      if (auto* list = std::get_if<std::vector<GraphHandle>>(&attribute)) std::ranges::for_each(*list, add);
    }
    return names;
  }

  /// The node, and all before it of which it is the only user.
  std::set<size_t> group_of(size_t last) {
    std::set<size_t> group{last};
    for (bool grows = true; grows && group.size() < kMostNodes;) {
      grows = false;
      for (const size_t member : std::vector<size_t>(group.rbegin(), group.rend())) {
        for (const std::string& input : graph_.nodes[member].inputs) {
          const auto maker = makers_.find(input);
          if (maker == makers_.end() || group.contains(maker->second)) continue;
          if (!is_pointwise(graph_.nodes[maker->second]) || outputs_.contains(input)) continue;
          if (!std::ranges::all_of(users_[input], [&](size_t user) { return group.contains(user); })) continue;
          group.insert(maker->second);
          if (inputs_of(group).size() > kMostInputs) {
            group.erase(maker->second);
            continue;
          }
          grows = true;
        }
      }
    }
    return group;
  }

  std::vector<std::string> inputs_of(const std::set<size_t>& group) const {
    std::vector<std::string> inputs;
    for (const size_t member : group) {
      for (const std::string& input : graph_.nodes[member].inputs) {
        const auto maker = makers_.find(input);
        const bool is_inside = maker != makers_.end() && group.contains(maker->second);
        if (!input.empty() && !is_inside && std::ranges::find(inputs, input) == inputs.end()) inputs.push_back(input);
      }
    }
    return inputs;
  }

  Node fused(const std::set<size_t>& group) {
    Node node{kFused, kOwnDomain, "", inputs_of(group), graph_.nodes[*group.rbegin()].outputs, {}};
    Graph body;
    for (const std::string& input : node.inputs) body.inputs.push_back({input, {}, {}});
    for (const size_t member : group) {
      node.name += (node.name.empty() ? "" : "+") + graph_.nodes[member].op;
      body.nodes.push_back(std::move(graph_.nodes[member]));
    }
    body.outputs.push_back({node.outputs[0], {}, {}});
    node.attributes["body"] = std::make_shared<const Graph>(std::move(body));
    return node;
  }

  Graph& graph_;
  std::unordered_map<std::string, std::vector<size_t>> users_;
  std::unordered_map<std::string, size_t> makers_;
  std::set<std::string> outputs_;
};

std::string hexadecimal(float number) {
  if (number != number) return "NAN";
  if (number - number != 0) return number > 0 ? "INFINITY" : "-INFINITY";
  char text[40];
  std::snprintf(text, sizeof text, "%a", static_cast<double>(number));
  return text;
}

/// Replaces `$0` and `@name` in an operator's text.
template <class Input, class Number>
std::string substituted(const char* text, Input&& input, Number&& number) {
  std::string made;
  for (const char* at = text; *at;) {
    if (*at == '$') {
      made += input(static_cast<size_t>(at[1] - '0'));
      at += 2;
    } else if (*at == '@') {
      std::string name;
      for (++at; (*at >= 'a' && *at <= 'z') || *at == '_'; ++at) name += *at;
      made += number(name);
    } else {
      made += *at++;
    }
  }
  return made;
}

/// The dtypes of a group's inputs, on which its kernel depends.
using KernelKey = std::vector<Dtype>;

/// A group of pointwise operators: its kernels, by the dtypes of inputs.
class FusedKernel {
 public:
  explicit FusedKernel(const Node& node) : body_(std::get<GraphHandle>(node.attributes.at("body"))) {
    for (const TensorInfo& input : body_->inputs) numbers_.emplace(input.name, static_cast<int>(numbers_.size()));
    for (const Node& inner : body_->nodes) numbers_.emplace(inner.outputs[0], static_cast<int>(numbers_.size()));
    rows_.reserve(body_->nodes.size());
    for (const Node& inner : body_->nodes) rows_.push_back(find_pointwise(inner.op));
  }

  Results run(const Call& call) const {
    Inputs inputs = with_ranks(call);
    KernelKey key;
    for (const Array& x : inputs.arrays) key.push_back(x.dtype());
    const Made& made = cache_.get(key, [&] { return make(call, key); });
    std::vector<Argument> arguments;
    for (size_t k = 0; k < inputs.arrays.size(); ++k) {
      const Array& x = inputs.arrays[k];
      inputs.is_number[k] ? arguments.emplace_back(x.item()) : arguments.emplace_back(x);
    }
    const Array result = Array::empty(inputs.shape, made.dtype, call.device());
    if (result.size() == 0) return {result};
    arguments.emplace_back(result);
    made.kernel.fill(arguments);
    return {result};
  }

 private:
  struct Made {
    ElementwiseKernel kernel;
    Dtype dtype;
  };
  struct Inputs {
    std::vector<Array> arrays;
    std::vector<bool> is_number;
    Dims shape;  ///< of the result
  };

  /// The inputs: numbers for channels as arrays that broadcast, single numbers of the host as such.
  Inputs with_ranks(const Call& call) const {
    Inputs inputs;
    std::vector<int> ranks(numbers_.size());
    for (size_t k = 0; k < call.count(); ++k) {
      inputs.arrays.push_back(call[k]);
      ranks[k] = call[k].ndim();
    }
    for (size_t k = 0; k < rows_.size(); ++k) {
      const Node& node = body_->nodes[k];
      int rank = 0;
      for (size_t place = 0; place < node.inputs.size(); ++place) {
        if (node.inputs[place].empty()) continue;
        const auto number = static_cast<size_t>(numbers_.at(node.inputs[place]));
        if (place > 0 && rows_[k]->is_by_channel) {
          inputs.arrays[number] = along_channels(inputs.arrays[number], rank);
        } else {
          rank = std::max(rank, ranks[number]);
        }
      }
      ranks[static_cast<size_t>(numbers_.at(node.outputs[0]))] = rank;
    }
    std::vector<const Dims*> shapes;
    for (const Array& x : inputs.arrays) shapes.push_back(&x.shape());
    inputs.shape = broadcast_shapes(shapes);
    for (Array& x : inputs.arrays) {
      const bool is_number = x.size() == 1 && &x.device() == &cpu() && inputs.shape.size() > 0;
      inputs.is_number.push_back(is_number);
      if (!is_number) x = x.to_device(call.device());
    }
    return inputs;
  }

  static Array along_channels(const Array& numbers, int rank) {
    Dims shape(std::max(rank, 2), 1);
    shape[1] = numbers.size();
    return numbers.reshape(shape);
  }

  Made make(const Call& call, const KernelKey& key) const {
    std::vector<Dtype> dtypes;
    std::string parameters, text = "using namespace iruka; using namespace iruka::nn;\n";
    for (size_t k = 0; k < key.size(); ++k) {
      const Dtype dtype = key[k];
      dtypes.push_back(dtype);
      parameters += (k ? ", " : "") + std::string(name(dtype)) + " x" + std::to_string(k);
      text += declared(k, dtype) + type_of(dtype) + "(x" + std::to_string(k) + ");\n";
    }
    for (size_t k = 0; k < rows_.size(); ++k) text += line_of(call, k, dtypes);
    const std::string last = std::to_string(dtypes.size() - 1), stored = info(dtypes.back()).c_type;
    text += "y = " + stored + "(v" + last + ");";
    return {kernel_of("pointwise", parameters, std::string(name(dtypes.back())) + " y", text, "pointwise"),
            dtypes.back()};
  }

  /// The statement of one operator; adds its dtype.
  std::string line_of(const Call& call, size_t k, std::vector<Dtype>& dtypes) const {
    const Node& node = body_->nodes[k];
    const PointwiseRow& row = *rows_[k];
    const auto number_at = [&](size_t place) {
      if (place >= node.inputs.size() || node.inputs[place].empty())
        call.fail(node.op + " lacks input " + std::to_string(place));
      return static_cast<size_t>(numbers_.at(node.inputs[place]));
    };
    const Dtype first = dtypes[number_at(row.result == PointwiseResult::second ? 1 : 0)];
    const std::string type = type_of(first);
    const auto variable = [&](size_t place) { return "v" + std::to_string(number_at(place)); };
    const auto number = [&](const std::string& attribute) {
      return "(" + type + ")" + hexadecimal(pointwise_number(row, node, attribute));
    };
    std::string text = variable(0);
    if (!row.is_variadic) text = substituted(pointwise_text(row, node), variable, number);
    for (size_t place = 1; row.is_variadic && place < node.inputs.size(); ++place) {
      const auto either = [&](size_t which) { return which == 0 ? text : variable(place); };
      text = type + "(" + substituted(row.text, either, number) + ")";
    }
    if (node.op == "Mean") text = "(" + text + ") / " + type + "(" + std::to_string(node.inputs.size()) + ")";
    Dtype result = first;
    if (row.result == PointwiseResult::boolean) result = Dtype::bool_;
    if (row.result == PointwiseResult::cast) {
      result = *onnx_dtype(static_cast<int32_t>(std::get<int64_t>(node.attributes.at("to"))));
      text = std::string(info(result).c_type) + "(" + text + ")";
    }
    dtypes.push_back(result);
    return declared(dtypes.size() - 1, result) + type_of(result) + "(" + text + ");\n";
  }

  static std::string type_of(Dtype dtype) { return info(compute_dtype(dtype)).c_type; }
  static std::string declared(size_t number, Dtype dtype) {
    return "[[maybe_unused]] const " + type_of(dtype) + " v" + std::to_string(number) + " = ";
  }

  GraphHandle body_;
  std::unordered_map<std::string, int> numbers_;  ///< of inputs, then of nodes' outputs
  std::vector<const PointwiseRow*> rows_;
  mutable ops::PermanentCache<KernelKey, Made> cache_;
};

}  // namespace

void fuse_pointwise(Graph& graph) { Fusion(graph).run(); }

Run fused_run(const Node& node) {
  return [kernel = std::make_shared<const FusedKernel>(node)](const Call& call) { return kernel->run(call); };
}

}  // namespace iruka::nn
