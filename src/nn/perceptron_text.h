// The generated lines of a perceptron's kernels: which layers follow each other. What they do is in kernels/.
#pragma once

#include <string>
#include <vector>

#include "iruka/kernel.h"
#include "iruka/nn.h"
#include "nn/layers.h"

namespace iruka::nn {

/// Defines the function `name(weights, in, out)` of one point.
std::string network_text(const std::string& name, const std::vector<DenseLayer>& layers, const Plan& plan);

/// Where a point's numbers lie: neighbours, points one after the other; or anywhere.
enum class PointLayout : bool { packed, strided };

/// The kernel over points for the function `network`. Its parameters: x, weights, x_stride, y_stride; y. For strided
/// points x and y are the first feature of each point.
ElementwiseKernel point_kernel(const std::vector<DenseLayer>& layers, const Plan& plan, PointLayout x, PointLayout y);

/// The parameter of a kernel that takes the packed weights: "raw const float32 net_weights", "float32
/// net_weights[420]".
std::string weights_parameter(const Plan& plan, const std::string& name);
/// The type in kernels of what reads them.
std::string weights_type(const Plan& plan);

/// "nn_8_32_4": a kernel's name.
std::string kernel_name(const Plan& plan);

}  // namespace iruka::nn
