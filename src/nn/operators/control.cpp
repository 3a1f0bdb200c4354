// Operators with graphs of their own.
#include "iruka/ops.h"
#include "iruka/rearranging.h"
#include "nn/operators/operator.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

/// The graphs are in the order of their attributes' names: else_branch, then_branch.
Results if_operator(const Call& call) { return call.run(call.number_of(0).as_bool() ? 1 : 0, {}); }

Results stacked(std::vector<std::vector<Array>> lists, const std::vector<int64_t>& axes) {
  Results joined;
  for (size_t k = 0; k < lists.size(); ++k) {
    joined.push_back(lists[k].empty() ? Array() : stack(lists[k], k < axes.size() ? axes[k] : 0));
  }
  return joined;
}

Results loop(const Call& call) {
  const int64_t most = call.has(0) ? call.number_of(0).as_int64() : INT64_MAX;
  bool goes_on = !call.has(1) || call.number_of(1).as_bool();
  std::vector<Array> state;
  for (size_t k = 2; k < call.count(); ++k) state.push_back(call[k]);
  const size_t carried = state.size();
  std::vector<std::vector<Array>> collected(call.output_count() - std::min(carried, call.output_count()));
  for (int64_t step = 0; step < most && goes_on; ++step) {
    std::vector<Array> inputs{array_of_integers({&step, 1}).reshape(Dims()), full(Dims(), goes_on, Dtype::bool_)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Array> outputs = call.run(0, std::move(inputs));
    goes_on = outputs[0].item().as_bool();
    for (size_t k = 0; k < carried; ++k) state[k] = outputs[1 + k];
    for (size_t k = 0; k < collected.size(); ++k) collected[k].push_back(outputs[1 + carried + k]);
  }
  for (const Array& x : stacked(std::move(collected), {})) {
    if (!x.valid()) call.fail("a loop without steps collects nothing");
    state.push_back(x);
  }
  return state;
}

Results scan_operator(const Call& call) {
  const auto scanned = static_cast<size_t>(call.integer("num_scan_inputs", 1));
  if (call.opset() < 9) call.fail("version 8 of the operator is not known");
  if (scanned < 1 || scanned > call.count()) call.fail("num_scan_inputs is " + std::to_string(scanned));
  const size_t carried = call.count() - scanned, collected = call.output_count() - carried;
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
  }
  std::vector<std::vector<Array>> lists(collected);
  for (int64_t step = 0; step < sequences[0].shape(0); ++step) {
    std::vector<Array> inputs = state;
    for (const Array& sequence : sequences) inputs.push_back(ops::slice_at(sequence, 0, step));
    std::vector<Array> outputs = call.run(0, std::move(inputs));
    for (size_t k = 0; k < carried; ++k) state[k] = outputs[k];
    for (size_t k = 0; k < collected; ++k) {
      lists[k].insert(out_directions[k] ? lists[k].begin() : lists[k].end(), outputs[carried + k]);
    }
  }
  for (const Array& x : stacked(std::move(lists), out_axes)) {
    if (!x.valid()) call.fail("a scan without steps collects nothing");
    state.push_back(x);
  }
  return state;
}

constexpr Operator kRows[] = {
    {"If", if_operator, 0b1},
    {"Loop", loop, 0b11},
    {"Scan", scan_operator},
};

}  // namespace

std::span<const Operator> control_operators() { return kRows; }

}  // namespace iruka::nn
