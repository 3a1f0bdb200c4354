// Convolutions and the sums and Relu behind them as one call of the device's library.
#pragma once

#include "iruka/device.h"
#include "iruka/precision.h"
#include "nn/graph.h"
#include "nn/operators/operator.h"

namespace iruka::nn {

/// Makes each convolution with constant weights a node that calls the library, where the device has one, and keeps the
/// weights as that reads them. The node takes in the pointwise group behind the convolution if that is a sum of the
/// result, constant biases and at most one other array, with or without one of the library's functions.
void use_library_convolutions(Graph& graph, Device& device, Precision precision);

bool is_library_convolution(const Node& node);
/// "+Bias+Relu", for tables: the operators behind its convolution.
std::string library_convolution_text(const Node& node);
/// What runs such a node.
Run library_convolution_run(const Node& node);

/// What a report says of a graph's convolutions: why the library does not compute them; empty where it does.
std::string library_convolution_note(const Graph& graph, Device& device);

}  // namespace iruka::nn
