// Perceptrons by the device's compiled loops, layer after layer for a tile of points: nothing is compiled.
#pragma once

#include <vector>

#include "core/dense_network.h"
#include "nn/layers.h"

namespace iruka::nn {

class LoopPerceptron {
 public:
  /// Whether the device has such loops, and they have all activations.
  static bool fits(const std::vector<DenseLayer>& layers, const Plan& plan);
  /// The weights are copied.
  LoopPerceptron(const std::vector<DenseLayer>& layers, const Plan& plan);

  /// Features lie along the last axes of x and y, which has the weights' dtype. False where x has another one, or
  /// elements are not aligned.
  bool run(const Array& x, const Array& y) const;

 private:
  std::vector<Array> weights_, biases_;
  std::vector<DenseStep> steps_;
};

}  // namespace iruka::nn
