#include "nn/node_users.h"

namespace iruka::nn {
namespace {

void add_used(const Node& node, std::vector<std::string>& names) {
  names.insert(names.end(), node.inputs.begin(), node.inputs.end());
  for (const GraphHandle& graph : graphs_of(node)) {
    for (const Node& inner : graph->nodes) add_used(inner, names);
    for (const TensorInfo& output : graph->outputs) names.push_back(output.name);
  }
}

}  // namespace

NodeUsers::NodeUsers(const Graph& graph) {
  for (size_t k = 0; k < graph.nodes.size(); ++k) {
    std::vector<std::string> names;
    add_used(graph.nodes[k], names);
    for (const std::string& name : names) {
      std::vector<size_t>& users = users_[name];
      if (users.empty() || users.back() != k) users.push_back(k);
    }
    for (const std::string& output : graph.nodes[k].outputs) makers_[output] = k;
  }
  for (const TensorInfo& output : graph.outputs) outputs_.insert(output.name);
  if (graph.outputs.empty() && !graph.nodes.empty())
    outputs_.insert(graph.nodes.back().outputs.begin(), graph.nodes.back().outputs.end());
}

std::span<const size_t> NodeUsers::users(const std::string& value) const {
  const auto found = users_.find(value);
  return found == users_.end() ? std::span<const size_t>() : found->second;
}

const size_t* NodeUsers::maker(const std::string& value) const {
  const auto found = makers_.find(value);
  return found == makers_.end() ? nullptr : &found->second;
}

}  // namespace iruka::nn
