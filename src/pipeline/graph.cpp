#include <algorithm>

#include "iruka/error.h"
#include "iruka/pipeline.h"

namespace iruka::pipeline {

namespace {
class Select final : public Operation {
 public:
  std::string name() const override { return "select"; }
  size_t inputs() const override { return 3; }
  std::vector<Value> run(std::span<Value> inputs, const SampleKey&, uint32_t) const override {
    std::vector<Value> chosen;
    chosen.push_back(std::move(inputs[inputs[0].number() != 0 ? 1 : 2]));
    return chosen;
  }
};
}  // namespace

/// Raises ValueError for a value that is not there where `guards` hold.
void Graph::check(int value, std::span<const Guard> guards) const {
  if (value < 0 || value >= values_)
    throw ValueError("pipeline: there is no value " + std::to_string(value) + " in a graph of " +
                     std::to_string(values_));
  const auto makes = [&](const Node& node) {
    return node.first_output <= value && value < node.first_output + node.operation->outputs();
  };
  const auto maker = std::ranges::find_if(nodes_, makes);
  if (maker == nodes_.end()) return;
  for (const Guard& guard : maker->guards) {
    if (std::ranges::find(guards, guard) == guards.end())
      throw ValueError("pipeline: value " + std::to_string(value) + " is made for some samples alone, those where " +
                       "value " + std::to_string(guard.condition) + (guard.is_true ? " is not 0" : " is 0"));
  }
}

int Graph::add(OperationHandle operation, std::vector<int> inputs, std::optional<uint32_t> place,
               std::vector<Guard> guards) {
  for (const int input : inputs) check(input, guards);
  return append(std::move(operation), std::move(inputs), place, std::move(guards));
}

int Graph::select(int condition, int if_true, int if_false, const std::vector<Guard>& guards) {
  check(condition, guards);
  for (const bool is_true : {true, false}) {
    std::vector<Guard> own = guards;
    own.push_back({condition, is_true});
    check(is_true ? if_true : if_false, own);
  }
  return append(std::make_shared<Select>(), {condition, if_true, if_false}, {}, guards);
}

int Graph::append(OperationHandle operation, std::vector<int> inputs, std::optional<uint32_t> place,
                  std::vector<Guard> guards) {
  if (!operation) throw ValueError("pipeline: a node needs an operation");
  for (size_t k = 0; k < guards.size(); ++k) check(guards[k].condition, std::span(guards).first(k));
  if (inputs.size() < operation->inputs())
    throw ValueError("pipeline: " + operation->name() + " needs " + std::to_string(operation->inputs()) +
                     " values, not " + std::to_string(inputs.size()));
  const int first = values_;
  values_ += operation->outputs();
  const auto own_place = static_cast<uint32_t>(nodes_.size()) + 1;
  nodes_.push_back({std::move(operation), std::move(inputs), first, place.value_or(own_place), std::move(guards)});
  return first;
}

void Graph::set_outputs(std::vector<int> values) {
  if (values.empty()) throw ValueError("pipeline: a graph needs an output");
  for (const int value : values) check(value, {});
  outputs_ = std::move(values);
}

}  // namespace iruka::pipeline
