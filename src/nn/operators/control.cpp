// Operators with graphs of their own.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "core/thread_pool.h"
#include "iruka/ops.h"
#include "iruka/rearranging.h"
#include "nn/files/input.h"
#include "nn/operators/operator.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

Results if_operator(const Call& call) {
  return call.run(call.number_of(0).as_bool() ? "then_branch" : "else_branch", {});
}

/// What a step would collect, as a list of none of it.
using Nothing = std::function<Array(size_t output)>;

/// The lists, each along an axis of its own; `first` is the place of the first among the body's outputs.
Results stacked(const Call& call, std::vector<std::vector<Array>> lists, size_t first, const std::vector<int64_t>& axes,
                const Nothing& of_step) {
  Results joined;
  for (size_t k = 0; k < lists.size(); ++k) {
    const int64_t axis = k < axes.size() ? axes[k] : 0;
    if (!lists[k].empty()) {
      joined.push_back(stack(lists[k], axis));
      continue;
    }
    const Array step = of_step(first + k);
    Dims shape = step.shape();
    const int at = call.axis(axis, shape.size() + 1);
    shape.push_back(0);
    std::rotate(shape.begin() + at, shape.end() - 1, shape.end());
    joined.push_back(Array::empty(shape, step.dtype(), call.device()));
  }
  return joined;
}

/// The arrays that a body declares to give, in one byte of memory each; the outputs of a step with `inputs` where it
/// leaves something open.
Nothing declared_outputs(const Call& call, std::function<std::vector<Array>()> inputs) {
  return [&call, inputs = std::move(inputs)](size_t output) {
    const TensorInfo& info = std::get<GraphHandle>(*call.attribute("body"))->outputs[output];
    const bool is_known = info.dtype && info.shape &&
                          std::ranges::none_of(*info.shape, [](const Extent& each) { return each.value < 0; });
    if (!is_known) return call.run("body", inputs())[output];
    Dims shape;
    for (const Extent& extent : *info.shape) shape.push_back(extent.value);
    return zeros(Dims(), *info.dtype).broadcast_to(shape);
  };
}

/// Ends a loop that is interrupted, whose body may launch nothing that would see it.
void poll_interrupt() {
  if (should_stop()) throw_if_stopped();
}

Results loop(const Call& call) {
  const int64_t most = call.has(0) ? call.number_of(0).as_int64() : INT64_MAX;
  bool goes_on = !call.has(1) || call.number_of(1).as_bool();
  std::vector<Array> state;
  for (size_t k = 2; k < call.count(); ++k) state.push_back(call[k]);
  const size_t carried = state.size();
  std::vector<std::vector<Array>> collected(call.output_count() - std::min(carried, call.output_count()));
  const LoopSequence sequence;
  const auto inputs_of = [&](int64_t step) {
    std::vector<Array> inputs{array_of_integers({&step, 1}).reshape(Dims()), full(Dims(), goes_on, Dtype::bool_)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    return inputs;
  };
  for (int64_t step = 0; step < most && goes_on; ++step) {
    poll_interrupt();
    std::vector<Array> outputs = call.run("body", inputs_of(step));
    goes_on = outputs[0].item().as_bool();
    for (size_t k = 0; k < carried; ++k) state[k] = outputs[1 + k];
    for (size_t k = 0; k < collected.size(); ++k) collected[k].push_back(outputs[1 + carried + k]);
  }
  const Nothing nothing = declared_outputs(call, [&] { return inputs_of(0); });
  for (Array& x : stacked(call, std::move(collected), 1 + carried, {}, nothing)) state.push_back(std::move(x));
  return state;
}

Results scan_operator(const Call& call) {
  const auto scanned = static_cast<size_t>(call.integer("num_scan_inputs", 1));
  if (call.opset() < 9) call.fail("version 8 of the operator is not known");
  const size_t carried = call.count() - scanned;
  const size_t collected = call.output_count() - std::min(carried, call.output_count());
  const auto integers = [&](const char* name, size_t count) {
    return call.integers(name).value_or(std::vector<int64_t>(count, 0));
  };
  const auto in_axes = integers("scan_input_axes", scanned), in_directions = integers("scan_input_directions", scanned);
  const auto out_axes = integers("scan_output_axes", collected),
             out_directions = integers("scan_output_directions", collected);
  std::vector<Array> state, sequences;
  for (size_t k = 0; k < carried; ++k) state.push_back(call[k]);
  for (size_t k = 0; k < scanned; ++k) {
    const Array& x = call[carried + k];
    const int axis = call.axis(in_axes[k], x.ndim());
    const Array ordered = in_directions[k] ? ops::reversed(x, axis) : x;
    sequences.push_back(ops::with_axis_at(ordered, axis, 0));
    if (sequences[k].shape(0) != sequences[0].shape(0)) {
      call.fail("sequences of " + std::to_string(sequences[0].shape(0)) + " and of " +
                std::to_string(sequences[k].shape(0)) + " steps cannot be scanned together");
    }
  }
  std::vector<std::vector<Array>> lists(collected);
  const LoopSequence sequence;
  for (int64_t step = 0; step < sequences[0].shape(0); ++step) {
    poll_interrupt();
    std::vector<Array> inputs = state;
    for (const Array& each : sequences) inputs.push_back(ops::slice_at(each, 0, step));
    std::vector<Array> outputs = call.run("body", std::move(inputs));
    for (size_t k = 0; k < carried; ++k) state[k] = outputs[k];
    for (size_t k = 0; k < collected; ++k) {
      lists[k].insert(out_directions[k] ? lists[k].begin() : lists[k].end(), outputs[carried + k]);
    }
  }
  const Nothing nothing = declared_outputs(call, [&] {
    std::vector<Array> inputs = state;
    for (const Array& each : sequences) {
      inputs.push_back(zeros(Dims(each.shape().data() + 1, each.ndim() - 1), each.dtype()));
    }
    return inputs;
  });
  for (Array& x : stacked(call, std::move(lists), carried, out_axes, nothing)) state.push_back(std::move(x));
  return state;
}

// What is known of a node before it runs.

const Graph* graph_of(const Node& node, const char* name) {
  const auto* graph = find_attribute<GraphHandle>(node, name);
  return graph ? graph->get() : nullptr;
}

/// `most` may be more than `wanted`: what a graph gives beyond what the node names is dropped.
std::string count_problem(const std::string& graph, const char* what, size_t given, size_t wanted, size_t most) {
  if (given >= wanted && given <= most) return {};
  return "its " + graph + " has " + std::to_string(given) + " " + what + ", but the node needs " +
         std::to_string(wanted);
}

std::string graph_problem(const Node& node, const char* name, size_t inputs, size_t outputs) {
  const Graph* const graph = graph_of(node, name);
  if (!graph) return "it lacks the graph " + in_quotes(name);
  const std::string problem = count_problem(name, "inputs", graph->inputs.size(), inputs, inputs);
  return problem.empty() ? count_problem(name, "outputs", graph->outputs.size(), outputs, SIZE_MAX) : problem;
}

std::string scan_problem(const Node& node) {
  const auto* given = find_attribute<int64_t>(node, "num_scan_inputs");
  if (!given || *given < 1 || *given > std::ssize(node.inputs)) {
    return "num_scan_inputs must be from 1 to " + std::to_string(node.inputs.size()) + ", the number of inputs";
  }
  const auto scanned = static_cast<size_t>(*given), carried = node.inputs.size() - scanned;
  const std::string problem = graph_problem(node, "body", node.inputs.size(), std::max(carried, node.outputs.size()));
  if (!problem.empty()) return problem;
  const size_t collected = graph_of(node, "body")->outputs.size() - carried;
  const std::pair<const char*, size_t> lists[] = {{"scan_input_axes", scanned},
                                                  {"scan_input_directions", scanned},
                                                  {"scan_output_axes", collected},
                                                  {"scan_output_directions", collected}};
  for (const auto& [name, count] : lists) {
    const auto attribute = node.attributes.find(name);
    if (attribute == node.attributes.end()) continue;
    const auto* list = std::get_if<std::vector<int64_t>>(&attribute->second);
    if (!list || list->size() != count) return std::string(name) + " must be " + std::to_string(count) + " integers";
  }
  return {};
}

constexpr Operator kRows[] = {
    {"If", if_operator, 0b1},
    {"Loop", loop, 0b11},
    {"Scan", scan_operator},
};

}  // namespace

std::span<const Operator> control_operators() { return kRows; }

std::string control_problem(const Node& node) {
  if (!node.domain.empty()) return {};
  if (node.op == "If") {
    const std::string problem = graph_problem(node, "then_branch", 0, node.outputs.size());
    return problem.empty() ? graph_problem(node, "else_branch", 0, node.outputs.size()) : problem;
  }
  if (node.op == "Loop") {
    const size_t carried = node.inputs.size() - std::min<size_t>(node.inputs.size(), 2);
    return graph_problem(node, "body", 2 + carried, 1 + std::max(carried, node.outputs.size()));
  }
  return node.op == "Scan" ? scan_problem(node) : std::string();
}

}  // namespace iruka::nn
