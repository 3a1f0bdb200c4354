// The generated lines of a perceptron's kernels: which layers follow each other. What they do is in kernels/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iruka/kernel.h"
#include "iruka/nn.h"
#include "nn/layers.h"

namespace iruka::nn {

/// What one statement of a network does: a layer with the activation that follows it, or an activation alone.
struct Step {
  std::optional<size_t> layer;
  const Activation* activation = nullptr;
  int64_t inputs = 0, outputs = 0;
  int64_t weights = 0, parameters = 0;  ///< where they begin among the packed weights

  bool is_softmax() const { return activation && activation->kind == Activation::Kind::softmax; }
  std::string function() const;  ///< the struct of kernels/activations.h, which is of no softmax
};
std::vector<Step> steps_of(const std::vector<DenseLayer>& layers, const Plan& plan);

/// Where the packed weights lie that a function reads: in memory, in an array by value, or in shared memory.
enum class WeightsPlace { memory, by_value, shared };

/// Defines the function `name(weights, in, out)` of one point, or of the same number of several.
std::string network_text(const std::string& name, const std::vector<DenseLayer>& layers, const Plan& plan,
                         WeightsPlace place);
/// The type of its first parameter.
std::string weights_type(const Plan& plan, WeightsPlace place);

/// Where a point's numbers lie: neighbours, points one after the other; or anywhere.
enum class PointLayout : bool { packed, strided };

/// The kernel over points for the function `network`. Its parameters: x, weights, x_stride, y_stride, the number of
/// points; y. For strided points x and y are the first feature of each point.
ElementwiseKernel point_kernel(const std::vector<DenseLayer>& layers, const Plan& plan, PointLayout x, PointLayout y);
/// The elements of a kernel over so many points.
int64_t element_count(const Plan& plan, int64_t points);
/// Whether the numbers of a point fit a GPU's registers, so that one kernel is faster than products of matrices.
bool fits_registers(const Plan& plan);
/// The bytes at a multiple of which packed points begin.
int64_t packed_alignment(const Plan& plan);

/// "nn_8_32_4": a kernel's name.
std::string kernel_name(const Plan& plan);

}  // namespace iruka::nn
