// Files that hold a graph of operators, of any format.
#pragma once

#include "nn/files/input.h"
#include "nn/graph.h"

namespace iruka::nn {

/// Raises ValueError for a damaged file and for one of weights alone.
Graph read_graph(const Input& input);

/// The same of a file. `function` is what error messages name.
Graph load_graph(const std::string& function, const std::string& path);
Graph load_graph(const std::string& function, std::span<const uint8_t> bytes);

}  // namespace iruka::nn
