#include "nn/program.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>

#include "core/device.h"
#include "nn/channels_last.h"
#include "nn/files/input.h"
#include "nn/fusion.h"
#include "nn/library_convolution.h"
#include "nn/simplify.h"
#include "nn/step_memory.h"
#include "ops/device_scope.h"

namespace iruka::nn {
namespace {

/// Results of steps on the host that have more elements than shapes do belong to the device.
constexpr int64_t kMostOnHost = 4096;

std::string describe(const Node& node) {
  return "nn.Model: node " + in_quotes(node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name) +
         " (" + node.op + "): ";
}

/// Runs `call`, and names the node in what it raises.
template <class F>
auto named(const Node& node, F&& call) {
  try {
    return call();
  } catch (const ShapeError& error) {
    throw ShapeError(describe(node) + error.what());
  } catch (const ValueError& error) {
    throw ValueError(describe(node) + error.what());
  } catch (const TypeError& error) {
    throw TypeError(describe(node) + error.what());
  } catch (const IndexError& error) {
    throw IndexError(describe(node) + error.what());
  } catch (const CompileError& error) {  // the operator's formula is none of these dtypes
    throw TypeError(describe(node) + "it does not take inputs of these dtypes: " + error.what());
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError(describe(node) + error.what());
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError(describe(node) + "out of memory on the host");
  } catch (const std::length_error&) {
    throw OutOfMemoryError(describe(node) + "out of memory on the host");
  }
}

/// The graphs that a node runs; that of a fused node is part of its kernel.
std::vector<GraphHandle> inner_graphs(const Node& node) {
  return node.domain == kOwnDomain ? std::vector<GraphHandle>() : graphs_of(node);
}

int64_t opset_of(const std::map<std::string, int64_t>& opsets) {
  const auto found = opsets.find("");
  return found == opsets.end() ? kNewestOpset : found->second;
}

/// `has_constant_weights`: whether the second input is always the same array.
Run run_of(const Node& node, bool has_constant_weights) {
  if (is_fused(node)) return fused_run(node);
  if (is_library_convolution(node)) return library_convolution_run(node);
  const Operator& row = *find_operator(node.op);
  return has_constant_weights && row.run_prepared ? row.run_prepared() : row.run;
}

/// A copy on the device, with the order of axes in memory that weights of convolutions have.
Array on_device(const Array& array, Device& device) {
  const bool is_kept = !array.is_c_contiguous() && is_channels_last(array);
  return is_kept ? channels_in_front(channels_behind(array).to_device(device)) : array.to_device(device);
}

}  // namespace

std::vector<std::string> captured_names(const Graph& graph) {
  std::set<std::string> known;
  std::vector<std::string> captured;
  for (const auto& [name, array] : graph.initializers) known.insert(name);
  for (const TensorInfo& input : graph.inputs) known.insert(input.name);
  const auto use = [&](const std::string& name) {
    if (!name.empty() && known.insert(name).second) captured.push_back(name);
  };
  for (const Node& node : graph.nodes) {
    for (const std::string& name : node.inputs) use(name);
    for (const GraphHandle& inner : inner_graphs(node)) {
      for (const std::string& name : captured_names(*inner)) use(name);
    }
    known.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const TensorInfo& output : graph.outputs) use(output.name);
  return captured;
}

Program::Program(Graph graph, const std::map<std::string, int64_t>& opsets, Device& device,
                 const std::vector<std::string>& captured)
    : graph_(std::move(graph)), device_(&device), opset_(opset_of(opsets)), opsets_(opsets) {
  std::map<std::string, int> numbers;
  for (const auto& [name, array] : graph_.initializers) {
    numbers.emplace(name, static_cast<int>(constants_.size()));
    constants_.push_back({array, on_device(array, device)});
  }
  value_count_ = static_cast<int>(constants_.size());
  for (const TensorInfo& input : graph_.inputs) numbers[input.name] = value_count_++;
  for (const std::string& name : captured) numbers[name] = value_count_++;
  for (const Node& node : graph_.nodes) steps_.push_back(make_step(node, numbers));
  for (const TensorInfo& output : graph_.outputs) outputs_.push_back(numbers.at(output.name));
  for (Step& step : steps_) {
    step.gives_output = std::ranges::any_of(
        step.outputs, [&](int value) { return std::ranges::find(outputs_, value) != outputs_.end(); });
  }
  find_dead_values();
}

Program::Step Program::make_step(const Node& node, std::map<std::string, int>& numbers) {
  const bool has_constant_weights = node.inputs.size() > 1 && graph_.initializers.contains(node.inputs[1]);
  Step step{&node,
            run_of(node, has_constant_weights),
            node.domain == kOwnDomain ? 0 : find_operator(node.op)->host_inputs,
            {},
            {},
            {},
            {},
            false};
  for (const std::string& name : node.inputs) step.inputs.push_back(name.empty() ? -1 : numbers.at(name));
  for (const GraphHandle& graph : inner_graphs(node)) {
    const std::vector<std::string> captured = captured_names(*graph);
    auto program = std::make_shared<Program>(*graph, opsets_, *device_, captured);
    for (const std::string& name : captured) {
      program->captured_inputs_.push_back(step.inputs.size());
      step.inputs.push_back(numbers.at(name));
    }
    step.graphs.push_back(std::move(program));
  }
  for (const std::string& name : node.outputs) {
    if (!name.empty()) numbers[name] = value_count_;
    step.outputs.push_back(name.empty() ? -1 : value_count_++);
  }
  return step;
}

void Program::collect_constants(std::set<const Buffer*>& buffers) const {
  for (const Constant& constant : constants_) {
    buffers.insert(constant.host.buffer().get());
    buffers.insert(constant.device.buffer().get());
  }
  for (const Step& step : steps_) {
    collect_buffers(*step.node, buffers);
    for (const auto& program : step.graphs) program->collect_constants(buffers);
  }
}

void Program::find_dead_values() {
  std::set<int> live(outputs_.begin(), outputs_.end());
  for (size_t k = steps_.size(); k-- > 0;) {
    Step& step = steps_[k];
    for (const std::vector<int>* list : {&step.outputs, &step.inputs}) {
      for (int value : *list) {
        if (value >= static_cast<int>(constants_.size()) && live.insert(value).second) step.dead.push_back(value);
      }
    }
  }
}

/// The host, where all that a step computes with is there, else the device. Constants are on both.
Device& Program::place_of(const Step& step, const std::vector<Array>& values) const {
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    const int value = step.inputs[k];
    if (value < static_cast<int>(constants_.size()) || (k < 32 && (step.host_inputs >> k & 1))) continue;
    if (!values[static_cast<size_t>(value)].valid()) continue;
    if (&values[static_cast<size_t>(value)].device() == device_) return *device_;
  }
  return cpu();
}

Results Program::run_step(const Step& step, std::vector<Array>& values) const {
  Device& place = place_of(step, values);
  std::vector<Array> inputs(step.inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    const int value = step.inputs[k];
    if (value < 0) continue;
    const bool is_on_host = &place == &cpu() || (k < 32 && (step.host_inputs >> k & 1));
    if (value < static_cast<int>(constants_.size())) {
      const Constant& constant = constants_[static_cast<size_t>(value)];
      const bool is_number = is_fused(*step.node) && constant.host.size() == 1;
      inputs[k] = is_on_host || is_number ? constant.host : constant.device;
    } else {
      const Array& array = values[static_cast<size_t>(value)];
      const bool stays = is_on_host || !array.valid() || &array.device() == &place || is_fused(*step.node);
      inputs[k] = stays ? array : array.to_device(place);
    }
  }
  const ops::DeviceScope scope(place);
  const Call call(*step.node, opset_, place, inputs, step.graphs, step.node->inputs.size());
  Results results = named(*step.node, [&] { return step.run(call); });
  for (Array& result : results) {
    if (result.valid() && result.size() > kMostOnHost) result = result.to_device(*device_);
  }
  return results;
}

std::vector<Array> Program::run(std::vector<Array> inputs, const StepListener* listener) const {
  std::vector<Array> values(static_cast<size_t>(value_count_));
  for (size_t k = 0; k < inputs.size(); ++k) values[constants_.size() + k] = std::move(inputs[k]);
  // What a device's queue still reads must not be written to.
  const auto memory = device_->target().is_host ? std::make_shared<StepMemory>(*device_, step_bytes_.load()) : nullptr;
  for (const Step& step : steps_) {
    const auto begin = listener ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    const StepMemoryScope scope(memory.get(), step.gives_output);
    Results results = run_step(step, values);
    if (listener) {
      device_->synchronize();
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      const Array& first = results.at(0);
      (*listener)({step.node, &first.device(), first.shape(), first.dtype(), time.count()});
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      if (step.outputs[k] >= 0 && k < results.size()) {
        values[static_cast<size_t>(step.outputs[k])] = std::move(results[k]);
      }
    }
    for (int value : step.dead) values[static_cast<size_t>(value)] = Array();
  }
  if (memory) step_bytes_ = memory->peak();
  std::vector<Array> outputs;
  for (int value : outputs_) {
    const auto at = static_cast<size_t>(value);
    outputs.push_back(at < constants_.size() ? constants_[at].device : values[at]);
  }
  return outputs;
}

Results run_node(const Node& node, const std::map<std::string, int64_t>& opsets, std::vector<Array> inputs) {
  const ops::DeviceScope scope(cpu());
  std::vector<std::shared_ptr<const Program>> graphs;
  for (const GraphHandle& graph : inner_graphs(node)) {
    graphs.push_back(std::make_shared<Program>(*graph, opsets, cpu()));
  }
  const Call call(node, opset_of(opsets), cpu(), inputs, graphs, node.inputs.size());
  return named(node, [&] { return run_of(node, false)(call); });
}

}  // namespace iruka::nn
