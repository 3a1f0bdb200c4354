// Models of graphs.
#pragma once

#include "iruka/nn.h"
#include "nn/files/input.h"
#include "nn/graph.h"

namespace iruka::nn {

/// A graph ready to run on a device. `where` is the prefix of messages.
Model model_of(Graph graph, Device& device, Precision precision, const std::string& where);
/// The model in a file with a graph.
Model read_model(const Input& input, Device& device, Precision precision);

}  // namespace iruka::nn
