// The statements that compute a group of pointwise nodes for one place.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "nn/graph.h"
#include "nn/pointwise_table.h"

namespace iruka::nn {

class PointwiseGroup {
 public:
  /// A node that fuse_pointwise() made.
  explicit PointwiseGroup(const Node& fused);

  size_t input_count() const { return body_->inputs.size(); }
  const std::vector<Node>& nodes() const { return body_->nodes; }
  const PointwiseRow& row(size_t node) const { return *rows_[node]; }
  /// The number of a value among the inputs and the nodes' outputs, in this order.
  size_t number(const std::string& value) const { return numbers_.at(value); }
  /// Whether the input has a number for each channel.
  bool is_by_channel(size_t input) const;

  /// One statement a node, which declares "v" and its number. Inputs are v0, v1..., of the types for their dtypes; the
  /// nodes' dtypes are added to `dtypes`. Raises ValueError for a node that lacks an input.
  std::string statements(std::vector<Dtype>& dtypes) const;

  /// The type in which elements of a dtype are computed, and the beginning of a declaration.
  static std::string type_of(Dtype dtype);
  static std::string declared(size_t number, Dtype dtype);

 private:
  std::string statement(size_t place, std::vector<Dtype>& dtypes) const;

  GraphHandle body_;
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<const PointwiseRow*> rows_;
};

}  // namespace iruka::nn
