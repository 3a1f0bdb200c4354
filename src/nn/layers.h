// The layers of a perceptron, checked, and their weights in the order that src/nn/kernels/perceptron.h describes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

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
  /// Whether a function of the network takes its weights by value, as constants of a GPU's instructions. These are
  /// written out then, and more of them take long to compile.
  bool is_by_value() const {
    constexpr int64_t kMostNumbers = 700;
    return packed_size() <= kMostNumbers;
  }
};

/// Raises what Perceptron's constructor documents.
Plan plan_layers(const std::vector<DenseLayer>& layers, const ActivationInput& input);

/// How many numbers an activation takes.
int64_t parameter_count(const Activation& activation);

/// One layer among the packed weights.
template <class F>
struct PackedMatrix {
  static constexpr int64_t kGroup = 4;  ///< outputs, as in kernels/perceptron.h
  const F* numbers;
  int64_t inputs, outputs;

  F bias(int64_t output) const { return group(output)[output % kGroup]; }
  F weight(int64_t output, int64_t input) const {
    const int64_t size = std::min(kGroup, outputs - output / kGroup * kGroup);
    return group(output)[size * (input + 1) + output % kGroup];
  }

 private:
  const F* group(int64_t output) const { return numbers + output / kGroup * kGroup * (inputs + 1); }
};

/// The weights of all layers as one array.
Array pack_weights(const std::vector<DenseLayer>& layers, const Plan& plan);

/// The layers again, with weights and biases from packed ones.
std::vector<DenseLayer> unpacked_layers(const std::vector<DenseLayer>& layers, const Plan& plan, const Array& weights);

/// The name in kernel code: "LeakyRelu".
const char* struct_name(const Activation& activation);

}  // namespace iruka::nn
