// Pointwise operators, any number of which are one kernel.
#pragma once

#include "nn/graph.h"
#include "nn/operators/operator.h"

namespace iruka::nn {

/// Whether the operator is a function of the elements at one place of its inputs.
bool is_pointwise(const std::string& op);
/// The same of what this node asks of it.
bool is_pointwise(const Node& node);

/// The domain of what the library makes of nodes, and the name of pointwise nodes made one; its attribute "body" is a
/// graph of them.
inline constexpr const char* kOwnDomain = "iruka";
/// What the names of attributes begin with that the library gives to nodes. Those of files do not.
inline constexpr const char* kOwnAttribute = "iruka.";
inline constexpr const char* kFused = "Pointwise";
inline bool is_fused(const Node& node) { return node.domain == kOwnDomain && node.op == kFused; }

/// x * scale + shift and x + shift with numbers for each channel, axis 1: what batch norms and biases become.
inline constexpr const char* kScaleShift = "ChannelScaleShift";
inline constexpr const char* kShift = "ChannelShift";
/// The sum of a product and its bias, which broadcasts.
inline constexpr const char* kBias = "Bias";
/// An attribute of a product that such a node follows: it gives sums of narrow floats in float32, so that the node
/// alone rounds them.
inline constexpr const char* kIsWide = "iruka.is_wide";

/// Pointwise nodes of which nothing but the last one's output is used outside are made one. Single ones, too.
void fuse_pointwise(Graph& graph);

/// What runs such a node.
Run fused_run(const Node& node);

}  // namespace iruka::nn
