// The order of axes in memory in which the channels, axis 1, are the fastest: that of (images, ..., channels).
#pragma once

#include "core/device.h"
#include "iruka/array.h"
#include "ops/views.h"

namespace iruka::nn {

/// The view whose last axis has the channels.
inline Array channels_behind(const Array& x) { return ops::with_axis_at(x, 1, x.ndim() - 1); }
/// The inverse.
inline Array channels_in_front(const Array& x) { return ops::with_axis_at(x, x.ndim() - 1, 1); }

/// Whether elements lie densely in this order. It may be C order as well, as that of one channel is.
inline bool is_channels_last(const Array& x) { return x.ndim() > 2 && channels_behind(x).is_c_contiguous(); }
/// Whether kernels should take this order: copies to C order are spared, and neighbouring threads or lanes of vectors
/// have neighbouring channels.
inline bool is_taken_channels_last(const Array& x) { return is_channels_last(x) && !x.is_c_contiguous(); }
/// The shape of channels_behind() for an array of `shape`.
inline Dims shape_with_channels_behind(const Dims& shape) {
  Dims behind{shape[0]};
  for (int axis = 2; axis < shape.size(); ++axis) behind.push_back(shape[axis]);
  behind.push_back(shape[1]);
  return behind;
}
/// A new array of this order.
inline Array empty_channels_last(const Dims& shape, Dtype dtype, Device& device) {
  return channels_in_front(Array::empty(shape_with_channels_behind(shape), dtype, device));
}
/// The array itself where it is in C order, else a copy that is.
Array in_c_order(const Array& x);
/// The same of this order.
Array as_channels_last(const Array& x);

}  // namespace iruka::nn
