#include "iruka/error.h"
#include "iruka/pipeline.h"

namespace iruka::pipeline {

void Graph::check(int value) const {
  if (value < 0 || value >= values_)
    throw ValueError("pipeline: there is no value " + std::to_string(value) + " in a graph of " +
                     std::to_string(values_));
}

int Graph::add(OperationHandle operation, std::vector<int> inputs, std::optional<uint32_t> place) {
  if (!operation) throw ValueError("pipeline: a node needs an operation");
  for (const int input : inputs) check(input);
  if (inputs.size() < operation->inputs())
    throw ValueError("pipeline: " + operation->name() + " needs " + std::to_string(operation->inputs()) +
                     " values, not " + std::to_string(inputs.size()));
  const int first = values_;
  values_ += operation->outputs();
  const auto own_place = static_cast<uint32_t>(nodes_.size()) + 1;
  nodes_.push_back({std::move(operation), std::move(inputs), first, place.value_or(own_place)});
  return first;
}

void Graph::set_outputs(std::vector<int> values) {
  if (values.empty()) throw ValueError("pipeline: a graph needs an output");
  for (const int value : values) check(value);
  outputs_ = std::move(values);
}

}  // namespace iruka::pipeline
