// The layers of a perceptron, checked, and their weights in the order that src/nn/kernels/perceptron.h describes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/device.h"
#include "iruka/nn.h"

namespace iruka::nn {

/// One layer: its extents and where its numbers lie among the packed weights.
struct PackedLayer {
  int64_t inputs = 0, outputs = 0;
  int64_t weights = 0;              ///< the first of them
  std::vector<int64_t> parameters;  ///< the first parameter of each activation
};

struct Plan {
  std::vector<PackedLayer> layers;
  int64_t in_features = 0, out_features = 0;
  int64_t widest = 0;
  int64_t numbers = 0;  ///< of all packed weights
  Dtype dtype = Dtype::float32;
  Device* device = nullptr;

  int64_t packed_size() const { return std::max<int64_t>(numbers, 1); }
  /// Whether kernels take the weights of a small network by value. All arguments of a launch are limited, also by the
  /// driver.
  bool is_by_value() const {
    constexpr int64_t kMostBytes = 24 << 10, kForOthers = 1024;
    const int64_t bytes = packed_size() * itemsize(dtype);
    return bytes <= kMostBytes && static_cast<size_t>(bytes + kForOthers) <= device->target().most_argument_bytes;
  }
};

/// Raises what Perceptron's constructor documents.
Plan plan_layers(const std::vector<DenseLayer>& layers, const ActivationInput& input);

/// The weights of all layers as one array; on the host where kernels take them by value.
Array pack_weights(const std::vector<DenseLayer>& layers, const Plan& plan);

/// The name in kernel code: "LeakyRelu".
const char* struct_name(const Activation& activation);

}  // namespace iruka::nn
