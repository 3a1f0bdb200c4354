// Operators that a file defines by a graph of others.
#pragma once

#include "nn/graph.h"

namespace iruka::nn {

/// Replaces nodes that call functions of the graph by the functions' nodes. Raises ValueError for functions that call
/// themselves. `where` is the prefix of messages.
void inline_functions(Graph& graph, const std::string& where);

}  // namespace iruka::nn
