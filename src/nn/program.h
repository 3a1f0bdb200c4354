// A graph as a list of steps over numbered values, ready to run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "nn/graph.h"
#include "nn/operators/operator.h"

namespace iruka::nn {

/// What a step of a program did, for reports.
struct StepTime {
  const Node* node;
  const Device* device;
  Dims shape;  ///< of its first output
  Dtype dtype;
  double milliseconds;
};
using StepListener = std::function<void(const StepTime&)>;

class Program {
 public:
  /// `outer`: the graph's opsets, which those within share. `captured`: values of the graphs around it that its nodes
  /// use, which run() takes after the graph's own inputs.
  Program(Graph graph, const std::map<std::string, int64_t>& opsets, Device& device,
          const std::vector<std::string>& captured = {});

  /// Inputs and outputs in the graph's order. A value is freed after the last step that uses it.
  std::vector<Array> run(std::vector<Array> inputs, const StepListener* listener = nullptr) const;

  size_t input_count() const { return graph_.inputs.size(); }
  /// Places of the captured values among the inputs of the node that has this graph.
  const std::vector<size_t>& captured_inputs() const { return captured_inputs_; }
  const Graph& graph() const { return graph_; }
  /// Adds the buffers of all constants, those of the graphs of nodes included.
  void collect_constants(std::set<const Buffer*>& buffers) const;
  Device& device() const { return *device_; }

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

 private:
  struct Step {
    const Node* node;
    Run run;
    uint32_t host_inputs;
    std::vector<int> inputs;  ///< values' numbers; -1 where one is left out. Captured values of graphs are last
    std::vector<int> outputs;
    std::vector<int> dead;  ///< values that no later step uses
    std::vector<std::shared_ptr<const Program>> graphs;
    bool gives_output = false;  ///< of the program
  };
  /// An initializer, on the host and the device.
  struct Constant {
    Array host, device;
  };

  Step make_step(const Node& node, std::map<std::string, int>& numbers);
  void find_dead_values();
  Results run_step(const Step& step, std::vector<Array>& values) const;
  Device& place_of(const Step& step, const std::vector<Array>& values) const;

  Graph graph_;
  Device* device_;
  int64_t opset_ = 0;
  std::map<std::string, int64_t> opsets_;
  std::vector<Constant> constants_;  ///< the first values
  std::vector<Step> steps_;
  std::vector<int> outputs_;
  std::vector<size_t> captured_inputs_;
  int value_count_ = 0;
  mutable std::atomic<size_t> step_bytes_ = 0;  ///< the memory that steps of the last call needed for their results
};

/// The names of values that a graph uses, but does not have: those of the graphs around it, in order.
std::vector<std::string> captured_names(const Graph& graph);

/// Runs a node whose inputs are all given, on the CPU.
Results run_node(const Node& node, const std::map<std::string, int64_t>& opsets, std::vector<Array> inputs);

}  // namespace iruka::nn
