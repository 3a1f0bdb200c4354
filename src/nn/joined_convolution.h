// A node that a convolution and the pointwise group behind it became: its parts, and a run of one after the other.
#pragma once

#include <optional>

#include "nn/operators/operator.h"
#include "nn/pointwise_group.h"

namespace iruka::nn {

/// Attributes of the node: the group's graph and the place of the convolution's value among the group's inputs, without
/// which there is no group, and the function that ends the group with its numbers, where a library computes it.
inline constexpr const char *kJoinedBody = "iruka.body", *kJoinedPlace = "iruka.place",
                            *kJoinedFunction = "iruka.function", *kJoinedNumbers = "iruka.numbers";

/// The node's inputs: x, weights and others of its own, then those of the group in their order, without the
/// convolution's value.
class JoinedConvolution {
 public:
  JoinedConvolution(const Node& node, size_t own_inputs);

  const Node& convolution() const { return convolution_; }
  const std::optional<PointwiseGroup>& group() const { return group_; }
  /// Whether an input of the group is the convolution's value.
  bool is_value(size_t input) const { return input == place_; }
  /// Another input of the group. Raises ValueError where it is left out.
  const Array& input_of(const Call& call, size_t input) const {
    return call[own_inputs_ + input - (input > place_ ? 1 : 0)];
  }
  /// The convolution by itself, and then the group.
  Results run_apart(const Call& call) const;

 private:
  Node convolution_, behind_;
  const size_t own_inputs_;
  std::optional<PointwiseGroup> group_;
  Run run_behind_;
  size_t place_ = 0;
};

}  // namespace iruka::nn
