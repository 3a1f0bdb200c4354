// The service for perceptrons by compiled loops. A GPU has none, its perceptrons are kernels.
#pragma once

#include <cstdint>
#include <span>

#include "core/convolution_function.h"
#include "core/service.h"
#include "iruka/array.h"

namespace iruka {

/// A layer: function(weights x + bias). Numbers have the network's dtype.
struct DenseStep {
  int64_t inputs = 0, outputs = 0;
  const void* weights = nullptr;  ///< what packed() gives
  const void* bias = nullptr;     ///< (outputs)
  ConvolutionFunction function = ConvolutionFunction::none;
  double numbers[2] = {};  ///< of the function
};

/// Points of an array, in C order of `rank` axes, which may be any number of them. Strides are in bytes.
struct DensePoints {
  void* data = nullptr;
  int rank = 0;
  const int64_t *extents = nullptr, *strides = nullptr;
  int64_t feature = 0;  ///< from a feature of a point to the next
};

struct DenseNetwork {
  Dtype dtype = Dtype::float32;  ///< or float64
  std::span<const DenseStep> steps;
  DensePoints x, y;
  int64_t count = 0;  ///< of points
};

class DenseNetworks {
 public:
  static constinit const Implementations<DenseNetworks> implementations;
  virtual ~DenseNetworks() = default;

  /// Weights (outputs, inputs) in the order of the loops.
  virtual Array packed(const Array& weights) const = 0;
  virtual void run(const DenseNetwork& network) = 0;
};

}  // namespace iruka
