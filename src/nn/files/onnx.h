// ONNX models as graphs.
#pragma once

#include "nn/files/input.h"
#include "nn/graph.h"

namespace iruka::nn {

/// The model's graph, checked by check_graph(). Raises ValueError for a damaged model, for tensors of types without a
/// dtype, and for inputs or attributes that are no tensors, numbers or texts (sequences, maps, sparse tensors).
Graph read_onnx(const Input& input);

}  // namespace iruka::nn
