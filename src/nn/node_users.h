// Which nodes of a graph use and make each value.
#pragma once

#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "nn/graph.h"

namespace iruka::nn {

/// Places are those in graph.nodes when this was made.
class NodeUsers {
 public:
  explicit NodeUsers(const Graph& graph);

  /// The places of the nodes that use a value, also inside of their attributes' graphs; each once, in order.
  std::span<const size_t> users(const std::string& value) const;
  /// The place of the node that makes a value; null for inputs and constants.
  const size_t* maker(const std::string& value) const;
  /// Whether a value is an output of the graph.
  bool is_output(const std::string& value) const { return outputs_.contains(value); }
  /// Whether the graph has a value of that name.
  bool contains(const std::string& name) const { return users_.contains(name) || makers_.contains(name); }

  /// Says that another node makes the value now.
  void set_maker(const std::string& value, size_t place) { makers_[value] = place; }

 private:
  std::unordered_map<std::string, std::vector<size_t>> users_;
  std::unordered_map<std::string, size_t> makers_;
  std::set<std::string> outputs_;
};

}  // namespace iruka::nn
