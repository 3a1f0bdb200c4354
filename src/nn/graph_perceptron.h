// Graphs that are multilayer perceptrons.
#pragma once

#include <optional>

#include "iruka/nn.h"
#include "nn/graph.h"

namespace iruka::nn {

/// The perceptron that a simplified graph is, where it is one kernel: one input of shape (batch, features) with any
/// batch, constant weights of the input's dtype, and activations behind each product that Perceptron has. None for all
/// other graphs.
std::optional<Perceptron> perceptron_of(const Graph& graph, Device& device);

}  // namespace iruka::nn
