// Views of an array by one axis, for functions that are made of views and of other functions.
#pragma once

#include <algorithm>
#include <vector>

#include "iruka/array.h"

namespace iruka::ops {

/// x[begin:end:step] of one axis; begin <= end lie within it, step is positive.
inline Array cut(const Array& x, int axis, int64_t begin, int64_t end, int64_t step = 1) {
  Dims shape = x.shape(), strides = x.strides();
  const int64_t offset = x.offset() + begin * strides[axis];
  shape[axis] = (end - begin + step - 1) / step;
  strides[axis] *= step;
  return x.view(x.dtype(), std::move(shape), std::move(strides), offset);
}

/// The axis in reverse order.
inline Array reversed(const Array& x, int axis) {
  Dims strides = x.strides();
  const int64_t offset = x.offset() + std::max<int64_t>(x.shape(axis) - 1, 0) * strides[axis];
  strides[axis] = -strides[axis];
  return x.view(x.dtype(), x.shape(), std::move(strides), offset);
}

/// x[k] along one axis, which is removed.
inline Array slice_at(const Array& x, int axis, int64_t k) {
  Dims shape, strides;
  for (int other = 0; other < x.ndim(); ++other) {
    if (other == axis) continue;
    shape.push_back(x.shape(other));
    strides.push_back(x.strides()[other]);
  }
  return x.view(x.dtype(), std::move(shape), std::move(strides), x.offset() + k * x.strides()[axis]);
}

/// Complex numbers as their parts, along one more axis.
inline Array parts_of(const Array& x) {
  const Dtype part = real_dtype(x.dtype());
  Dims shape = x.shape(), strides = x.strides();
  shape.push_back(2), strides.push_back(itemsize(part));
  return x.view(part, std::move(shape), std::move(strides), x.offset());
}

/// The axis `from` as axis `to` of the view; the others keep their order.
inline Array with_axis_at(const Array& x, int from, int to) {
  if (from == to) return x;
  std::vector<int64_t> order;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (axis != from) order.push_back(axis);
  order.insert(order.begin() + to, from);
  return x.transpose(Dims(order.data(), x.ndim()));
}

inline Dims extents_of(const Array& x, const Dims& axes) {
  Dims extents(axes.size());
  for (int k = 0; k < axes.size(); ++k) extents[k] = x.shape(static_cast<int>(axes[k]));
  return extents;
}

/// Adds axes of extent 1 in front until there are `ndim`.
inline Array with_axes_in_front(const Array& x, int ndim) {
  if (x.ndim() >= ndim) return x;
  Dims shape(ndim, 1);
  std::copy(x.shape().begin(), x.shape().end(), shape.begin() + (ndim - x.ndim()));
  return x.reshape(shape);
}

/// A shape of `ndim` ones, except for `extent` at one axis: a vector along that axis.
inline Dims along_axis(int ndim, int axis, int64_t extent) {
  Dims shape(ndim, 1);
  shape[axis] = extent;
  return shape;
}

}  // namespace iruka::ops
