// Functions of the features of a point, for the points of arrays of any shape and layout.
#pragma once

#include <cstdint>
#include <functional>

#include "iruka/nn.h"

namespace iruka::nn {

struct PointFunction {
  const char* name;  ///< with which messages begin
  int64_t in_features, out_features;
  Dtype dtype;  ///< of results
  Device* device;
  int64_t points_at_once;
  /// Features lie along the last axes of x and y.
  std::function<void(const Array& x, const Array& y)> run;
};

/// The axis of x that has the features, which is not negative. Raises ShapeError, AxisError, TypeError or ValueError
/// for an array that the function does not take.
int features_axis(const PointFunction& function, const Array& x, int64_t axis);

/// What Perceptron::map() describes.
Array map_points(const PointFunction& function, const Array& x, int64_t axis, const MapOptions& options);

}  // namespace iruka::nn
