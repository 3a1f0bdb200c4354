// A network as a graph of operators, as files give it. The names of operators and attributes are ONNX's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "iruka/array.h"

namespace iruka::nn {

/// An extent of a tensor that a file declares: a number, or -1 and perhaps a symbol that other tensors share.
struct Extent {
  int64_t value = -1;
  std::string symbol;
};

/// What a file says of an input, an output or a value between nodes. No shape means that even the rank is unknown.
struct TensorInfo {
  std::string name;
  std::optional<Dtype> dtype;
  std::optional<std::vector<Extent>> shape;
};

struct Graph;
using GraphHandle = std::shared_ptr<const Graph>;
/// In the body of a function: the attribute of this name of the node that calls it.
struct AttributeReference {
  std::string name;
};
/// Numbers of files are float32; modules have those of Python.
using Attribute =
    std::variant<double, int64_t, std::string, Array, GraphHandle, std::vector<double>, std::vector<int64_t>,
                 std::vector<std::string>, std::vector<Array>, std::vector<GraphHandle>, AttributeReference>;

struct Node {
  std::string op, domain;  ///< domain "" is ONNX's own
  std::string name;
  std::vector<std::string> inputs, outputs;  ///< "" stands for one that is left out
  std::map<std::string, Attribute> attributes;
};

/// The attribute as a T; null where it is left out or something else.
template <class T>
const T* find_attribute(const Node& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

/// Adds the memory of the node's own arrays, without those of its graphs.
void collect_buffers(const Node& node, std::set<const Buffer*>& buffers);

/// An operator that the file itself defines.
struct Function {
  std::string name, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;        ///< without default
  std::map<std::string, Attribute> defaults;  ///< of the others
  std::vector<Node> nodes;
  std::map<std::string, int64_t> opsets;
};

struct Graph {
  std::string name;
  std::vector<TensorInfo> inputs;  ///< without those that initializers give
  std::vector<TensorInfo> outputs;
  std::vector<TensorInfo> values;  ///< what the file says of values between nodes
  std::vector<Node> nodes;         ///< each after those whose outputs it uses
  std::map<std::string, Array> initializers;
  std::map<std::string, int64_t> opsets;  ///< version of each domain; of the outermost graph
  std::vector<Function> functions;        ///< of the outermost graph
};

/// The graphs in a node's attributes, such as the body of a loop, in the order of the attributes' names.
std::vector<GraphHandle> graphs_of(const Node& node);

/// Replaces each graph in an attribute by what `replace` makes of it; an attribute of another kind stays.
template <class Replace>
void replace_graphs(Attribute& attribute, Replace&& replace) {
  if (auto* graph = std::get_if<GraphHandle>(&attribute)) *graph = replace(*graph);
  if (auto* list = std::get_if<std::vector<GraphHandle>>(&attribute)) {
    for (GraphHandle& graph : *list) graph = replace(graph);
  }
}

/// Raises ValueError where a node uses a value that no earlier one gives, or two give the same. `where` is the prefix
/// of the message.
void check_graph(const Graph& graph, const std::string& where);

}  // namespace iruka::nn
