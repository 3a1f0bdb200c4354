// What is known of the shapes of a graph's values before it runs.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "nn/graph.h"

namespace iruka::nn {

using KnownShape = std::vector<Extent>;

/// Shapes that the file declares, and those that follow from constants, attributes and operators. Extents that only a
/// run knows are -1, but an axis that pooling or a reduction leaves is known to be 1. These shapes choose between ways
/// to compute the same, never what is computed: a file may declare wrong ones.
class KnownShapes {
 public:
  explicit KnownShapes(const Graph& graph);

  /// Null where even the rank is unknown.
  const KnownShape* find(const std::string& value) const;
  /// Whether a value is repeated along some axis of another one that is computed of it: it lacks the axis or has an
  /// extent of 1 there, and the other is not known to have 1, too.
  bool is_repeated_in(const std::string& value, const std::string& result) const;

 private:
  std::unordered_map<std::string, KnownShape> shapes_;
};

}  // namespace iruka::nn
