#include "nn/inlining.h"

#include <map>

#include "nn/files/input.h"

namespace iruka::nn {
namespace {

constexpr int kDeepest = 32;
/// Of nodes, and of the inputs, outputs, constants and declared values of their graphs.
constexpr size_t kMostParts = size_t{1} << 20;

class Inliner {
 public:
  Inliner(const std::vector<Function>& functions, const std::map<std::string, int64_t>& opsets,
          const std::string& where)
      : opsets_(opsets), where_(where) {
    for (const Function& function : functions) functions_[{function.domain, function.name}] = &function;
  }

  std::vector<Node> inlined(std::vector<Node> nodes, int depth = 0) {
    if (depth > kDeepest) refuse("its functions call each other more than " + std::to_string(kDeepest) + " deep");
    std::vector<Node> made;
    for (Node& node : nodes) {
      count(1);
      const auto found = functions_.find({node.domain, node.op});
      if (found == functions_.end()) {
        for (auto& [name, attribute] : node.attributes) inline_graphs(attribute, depth);
        made.push_back(std::move(node));
        continue;
      }
      for (Node& inner : inlined(called(*found->second, node), depth + 1)) made.push_back(std::move(inner));
    }
    return made;
  }

 private:
  using Names = std::map<std::string, std::string>;
  using Attributes = std::map<std::string, Attribute>;

  void count(size_t parts) {
    parts_ += parts;
    if (parts_ > kMostParts)
      refuse("its functions have more than " + std::to_string(kMostParts) + " nodes, constants and declared values");
  }

  void inline_graphs(Attribute& attribute, int depth) {
    const auto with_inlined = [&](const GraphHandle& graph) {
      Graph copy = *graph;
      copy.nodes = inlined(std::move(copy.nodes), depth + 1);
      return std::make_shared<const Graph>(std::move(copy));
    };
    replace_graphs(attribute, with_inlined);
  }

  /// The function's nodes with the values and attributes of the call.
  std::vector<Node> called(const Function& function, const Node& call) {
    check_version(function);
    Names names;
    for (size_t k = 0; k < function.inputs.size(); ++k) {
      names[function.inputs[k]] = k < call.inputs.size() ? call.inputs[k] : "";
    }
    for (size_t k = 0; k < function.outputs.size(); ++k) {
      const bool is_input = names.contains(function.outputs[k]);
      if (k < call.outputs.size() && !call.outputs[k].empty() && !is_input)
        names[function.outputs[k]] = call.outputs[k];
    }
    Attributes attributes = function.defaults;
    for (const auto& [name, value] : call.attributes) attributes[name] = value;
    const std::string prefix = function.name + "#" + std::to_string(++calls_) + "/";
    std::vector<Node> nodes;
    nodes.reserve(function.nodes.size());
    for (const Node& node : function.nodes) nodes.push_back(renamed(node, names, attributes, prefix));
    for (size_t k = 0; k < function.outputs.size() && k < call.outputs.size(); ++k) {
      const std::string& inner = names[function.outputs[k]];
      if (!call.outputs[k].empty() && inner != call.outputs[k]) {
        nodes.push_back({"Identity", "", prefix + "output", {inner}, {call.outputs[k]}, {}});
      }
    }
    return nodes;
  }

  /// The function's nodes run as the model's own, which may mean something else by other versions.
  void check_version(const Function& function) const {
    const auto own = function.opsets.find(""), outer = opsets_.find("");
    if (own == function.opsets.end() || outer == opsets_.end() || own->second == outer->second) return;
    refuse("its function " + in_quotes(function.name) + " uses version " + std::to_string(own->second) +
           " of the operator set, but the model " + std::to_string(outer->second));
  }

  Node renamed(Node node, Names& names, const Attributes& attributes, const std::string& prefix) {
    node.name = prefix + node.name;
    for (std::string& input : node.inputs) {
      if (!input.empty()) input = names.contains(input) ? names[input] : prefix + input;
    }
    for (std::string& output : node.outputs) {
      if (!output.empty()) output = names.try_emplace(output, prefix + output).first->second;
    }
    std::map<std::string, Attribute> own;
    for (auto& [name, value] : node.attributes) {
      if (auto* reference = std::get_if<AttributeReference>(&value)) {
        const auto found = attributes.find(reference->name);
        if (found != attributes.end()) own[name] = found->second;
        continue;
      }
      replace_graphs(value, [&](const GraphHandle& graph) { return renamed(*graph, names, attributes, prefix); });
      own[name] = std::move(value);
    }
    node.attributes = std::move(own);
    return node;
  }

  /// A graph in an attribute, which sees the function's values.
  GraphHandle renamed(Graph graph, Names names, const Attributes& attributes, const std::string& prefix) {
    count(graph.initializers.size() + graph.inputs.size() + graph.outputs.size() + graph.values.size());
    std::map<std::string, Array> initializers;
    for (auto& [name, array] : graph.initializers) {
      initializers[prefix + name] = array;
      names[name] = prefix + name;
    }
    graph.initializers = std::move(initializers);
    for (TensorInfo& input : graph.inputs) input.name = names[input.name] = prefix + input.name;
    for (Node& node : graph.nodes) node = renamed(std::move(node), names, attributes, prefix);
    for (TensorInfo& output : graph.outputs) {
      output.name = names.contains(output.name) ? names[output.name] : prefix + output.name;
    }
    return std::make_shared<const Graph>(std::move(graph));
  }

  [[noreturn]] void refuse(const std::string& problem) const { raise_value_error(where_, "ONNX model: " + problem); }

  std::map<std::pair<std::string, std::string>, const Function*> functions_;
  const std::map<std::string, int64_t>& opsets_;
  const std::string& where_;
  int calls_ = 0;
  size_t parts_ = 0;
};

}  // namespace

void inline_functions(Graph& graph, const std::string& where) {
  if (graph.functions.empty()) return;
  Inliner inliner(graph.functions, graph.opsets, where);
  graph.nodes = inliner.inlined(std::move(graph.nodes));
  graph.functions.clear();
}

}  // namespace iruka::nn
