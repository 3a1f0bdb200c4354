#include "nn/graph.h"

#include <unordered_set>

#include "nn/files/input.h"

namespace iruka::nn {
namespace {

using Names = std::unordered_set<std::string_view>;

/// The names that are known at a place: those of the graph, and those of the graphs around it.
struct Scope {
  Names names;
  const Scope* outer = nullptr;

  bool knows(std::string_view name) const {
    for (const Scope* scope = this; scope; scope = scope->outer) {
      if (scope->names.contains(name)) return true;
    }
    return false;
  }
};

class Checker {
 public:
  explicit Checker(const std::string& where) : where_(where) {}

  void check(const Graph& graph, const Scope* outer) {
    Scope scope{.names = {}, .outer = outer};
    for (const auto& [name, array] : graph.initializers) scope.names.insert(name);
    for (const TensorInfo& input : graph.inputs) add(scope, input.name, nullptr);
    check(graph.nodes, scope);
    for (const TensorInfo& output : graph.outputs) {
      if (!scope.knows(output.name)) refuse("no node gives the output " + in_quotes(output.name));
    }
  }

  void check(const Function& function) {
    Scope scope;
    for (const std::string& input : function.inputs) add(scope, input, nullptr);
    check(function.nodes, scope);
    for (const std::string& output : function.outputs) {
      if (!scope.knows(output)) {
        refuse("no node of the function " + in_quotes(function.name) + " gives its output " + in_quotes(output));
      }
    }
  }

 private:
  void check(const std::vector<Node>& nodes, Scope& scope) {
    for (const Node& node : nodes) {
      for (const std::string& input : node.inputs) {
        if (input.empty() || scope.knows(input)) continue;
        refuse(describe(node) + " uses " + in_quotes(input) + ", which nothing before it gives");
      }
      for (const GraphHandle& graph : graphs_of(node)) check(*graph, &scope);
      for (const std::string& output : node.outputs) {
        if (!output.empty()) add(scope, output, &node);
      }
    }
  }

  /// `giver` is null for an input.
  void add(Scope& scope, const std::string& name, const Node* giver) {
    if (!name.empty() && scope.names.insert(name).second) return;
    const std::string text = giver ? describe(*giver) : "an input";
    refuse(name.empty() ? text + " has no name" : text + " gives " + in_quotes(name) + " a second time");
  }

  static std::string describe(const Node& node) {
    return "the node " + in_quotes(node.name) + " (" + in_quotes(node.op) + ")";
  }
  [[noreturn]] void refuse(const std::string& problem) const { raise_value_error(where_, "ONNX model: " + problem); }

  const std::string& where_;
};

}  // namespace

std::vector<GraphHandle> graphs_of(const Node& node) {
  std::vector<GraphHandle> graphs;
  for (const auto& [name, attribute] : node.attributes) {
    if (auto* graph = std::get_if<GraphHandle>(&attribute)) graphs.push_back(*graph);
    if (auto* list = std::get_if<std::vector<GraphHandle>>(&attribute))
      graphs.insert(graphs.end(), list->begin(), list->end());
  }
  return graphs;
}

void check_graph(const Graph& graph, const std::string& where) {
  Checker checker(where);
  checker.check(graph, nullptr);
  for (const Function& function : graph.functions) checker.check(function);
}

void collect_buffers(const Node& node, std::set<const Buffer*>& buffers) {
  for (const auto& [name, attribute] : node.attributes) {
    if (auto* array = std::get_if<Array>(&attribute)) buffers.insert(array->buffer().get());
    if (auto* list = std::get_if<std::vector<Array>>(&attribute)) {
      for (const Array& array : *list) buffers.insert(array.buffer().get());
    }
  }
}

}  // namespace iruka::nn
