// What a graph loses before it runs: functions of the file, constant nodes, batch norms, and nodes that do nothing.
#pragma once

#include "nn/graph.h"

namespace iruka::nn {

/// Versions of ONNX's operator set that the operators follow.
inline constexpr int64_t kOldestOpset = 7, kNewestOpset = 28;

/// The graph with the file's own functions written out, without Constant nodes and what only depends on them, without
/// Identity and Dropout, with batch norms folded into the convolutions and products before them. The graphs of nodes
/// are ready to run; the outermost one is behind join_pointwise(). Raises ValueError that names every operator that is
/// missing, and for operator sets of other versions. `where` is the prefix of messages.
Graph simplified(Graph graph, const std::string& where);

/// Makes biases nodes of their own, and chains of pointwise operators single nodes.
void join_pointwise(Graph& graph);

/// The operators that neither the table nor the file has, each with the names of its nodes.
void check_operators(const Graph& graph, const std::string& where);

}  // namespace iruka::nn
