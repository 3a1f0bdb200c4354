// Networks too wide or too deep for one kernel: a matrix product for each layer, and a kernel for what follows it.
#pragma once

#include <vector>

#include "iruka/kernel.h"
#include "iruka/nn.h"
#include "nn/layers.h"

namespace iruka::nn {

class LayeredNetwork {
 public:
  LayeredNetwork() = default;
  /// The weights are copied.
  LayeredNetwork(const std::vector<DenseLayer>& layers, const Plan& plan);

  /// The network of each row of x, which has the weights' dtype.
  Array operator()(const Array& x) const;
  /// How many rows at once keep the values between layers in a moderate amount of memory.
  int64_t rows_at_once() const;

 private:
  struct Pointwise {
    ElementwiseKernel kernel;
    bool is_softmax;
    Array bias, slopes, parameters;
  };
  struct Layer {
    Array matrix;  ///< (inputs, outputs); not valid where the layer has no weight
    std::vector<Pointwise> functions;
    /// Whether the first function adds biases and is ReLU or no other one, so that a product may end with it.
    bool has_bias = false, has_relu = false;
  };

  static Pointwise pointwise(const Activation* activation, const Array& bias, const Plan& plan, int64_t width);

  std::vector<Layer> layers_;
  int64_t row_bytes_ = 1, bytes_at_once_ = 1;
};

}  // namespace iruka::nn
