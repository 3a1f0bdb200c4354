// Convolutions of float32 images on a device whose memory is the host's: vectors of pixels, with the pointwise
// operators behind them.
#pragma once

#include "iruka/device.h"
#include "nn/graph.h"
#include "nn/operators/operator.h"

namespace iruka::nn {

/// Makes convolutions with constant float32 weights, and the cheap pointwise groups behind them, single nodes that run
/// so, where the device's memory is the host's. Their weights are in the order that the kernel reads.
void use_vector_convolutions(Graph& graph, Device& device);

bool is_vector_convolution(const Node& node);
/// "Conv+Bias+Relu", for tables.
std::string vector_convolution_text(const Node& node);
/// What runs such a node.
Run vector_convolution_run(const Node& node);

}  // namespace iruka::nn
