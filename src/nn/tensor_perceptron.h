// A perceptron's kernel for a GPU's tensor cores, which round the factors of products to tf32.
#pragma once

#include <vector>

#include "iruka/array.h"
#include "iruka/nn.h"
#include "iruka/raw_kernel.h"
#include "nn/call_cache.h"
#include "nn/layers.h"
#include "nn/perceptron_text.h"

namespace iruka::nn {

class TensorPerceptron {
 public:
  /// Whether the plan's device has tensor cores for the network's products.
  static bool has_tensor_cores(const Plan& plan);
  /// Whether the layers are so narrow that the numbers of a warp's points fit the registers.
  static bool fits(const Plan& plan);
  /// `weights` are packed as `plan` says.
  TensorPerceptron(const std::vector<DenseLayer>& layers, const Plan& plan, const Array& weights);

  /// The features of x and y lie along the last axis; y is float32.
  void run(const Array& x, const Array& y) const;

 private:
  /// The dtype of x, and how the points of x and y lie.
  struct Kind {
    Dtype dtype;
    PointLayout x, y;
    bool operator==(const Kind&) const = default;
  };

  RawKernel kernel(const Kind& kind) const;

  Plan plan_;  ///< of the weights in the order of kernels/cuda/tensor_perceptron.h
  std::vector<Step> steps_;
  bool is_shared_;  ///< whether the weights are in a block's shared memory, else in the device's
  bool has_warpgroups_;
  int64_t blocks_;  ///< of a multiprocessor
  Array weights_;
  mutable CallCache<Kind, RawKernel> kernels_;
};

}  // namespace iruka::nn
