// A perceptron's kernel for a GPU's tensor cores, which round the factors of products to tf32.
#pragma once

#include <memory>
#include <utility>
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
  /// `weights` are packed as `plan` says. Null where the device has no tensor cores for tf32, the network has no
  /// products of float32, or its layers are so wide that a warp's numbers do not fit the registers.
  static std::shared_ptr<const TensorPerceptron> make(const std::vector<DenseLayer>& layers, const Plan& plan,
                                                      const Array& weights);

  /// The features of x and y lie along the last axis; y is float32.
  void run(const Array& x, const Array& y) const;

 private:
  /// The dtype of x, and how the points of x and y lie.
  struct Kind {
    Dtype dtype;
    PointLayout x, y;
    bool operator==(const Kind&) const = default;
  };

  TensorPerceptron(const std::vector<DenseLayer>& layers, const Plan& plan, const Array& weights);

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
