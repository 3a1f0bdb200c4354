// Views: the same memory with other extents and strides, by NumPy's rules.
#include <algorithm>
#include <string>
#include <utility>

#include "core/device.h"
#include "core/layout.h"
#include "core/slices.h"
#include "iruka/array.h"

namespace iruka {
namespace {

[[noreturn]] void raise_reshape(const Dims& shape, int64_t size) {
  throw ShapeError("reshape: cannot give shape " + to_string(shape) + " to " + std::to_string(size) + " elements");
}

/// `shape` with its -1, if any, replaced by the extent that gives `size` elements.
Dims infer_extent(const Dims& shape, int64_t size) {
  if (shape.size() > kMaxRank)
    throw ShapeError("reshape: an array has at most " + std::to_string(kMaxRank) + " axes, not " +
                     std::to_string(shape.size()));
  int unknown = -1;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < -1)
      throw ShapeError("reshape: shape " + to_string(shape) + ": negative dimensions other than -1 are not allowed");
    if (shape[axis] != -1) continue;
    if (unknown >= 0) throw ShapeError("reshape: can only specify one unknown dimension, not " + to_string(shape));
    unknown = axis;
  }
  Dims result = shape;
  if (unknown >= 0) {
    result[unknown] = 1;
    const int64_t known = count(result);
    if (known == 0 || size % known != 0) raise_reshape(shape, size);
    result[unknown] = size / known;
  } else if (count(result) != size) {
    raise_reshape(shape, size);
  }
  return result;
}

/// The strides of a view of shape `to` over elements laid out as `from`, in C order; false where that needs a copy.
/// Groups of old axes and new axes with the same product are matched, as NumPy's _attempt_nocopy_reshape does.
bool reshape_strides(const Dims& from, const Dims& from_strides, const Dims& to, int64_t itemsize, Dims& to_strides) {
  Dims old_shape, old_strides;
  for (int axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == 1) continue;
    old_shape.push_back(from[axis]);
    old_strides.push_back(from_strides[axis]);
  }
  int old_begin = 0, new_begin = 0;
  while (new_begin < to.size() && old_begin < old_shape.size()) {
    int old_end = old_begin + 1, new_end = new_begin + 1;
    int64_t old_count = old_shape[old_begin], new_count = to[new_begin];
    while (old_count != new_count) {
      if (new_count < old_count)
        new_count *= to[new_end++];
      else
        old_count *= old_shape[old_end++];
    }
    for (int axis = old_begin; axis < old_end - 1; ++axis)
      if (old_strides[axis] != old_shape[axis + 1] * old_strides[axis + 1]) return false;
    to_strides[new_end - 1] = old_strides[old_end - 1];
    for (int axis = new_end - 1; axis > new_begin; --axis) to_strides[axis - 1] = to_strides[axis] * to[axis];
    old_begin = old_end;
    new_begin = new_end;
  }
  // The remaining axes have extent 1.
  const int64_t last = new_begin > 0 ? to_strides[new_begin - 1] : itemsize;
  for (int axis = new_begin; axis < to.size(); ++axis) to_strides[axis] = last;
  return true;
}

/// A product that wraps around. It overflows only for an axis of extent 1, whose stride is never used.
int64_t wrapping_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// The number of axes that the entries of an index consume; checks this number and the ellipsis.
int consumed_axes(std::span<const Index> indices, int ndim) {
  int consumed = 0, ellipses = 0;
  for (const Index& index : indices) {
    consumed += std::holds_alternative<int64_t>(index) || std::holds_alternative<Slice>(index);
    ellipses += std::holds_alternative<Ellipsis>(index);
  }
  if (ellipses > 1) throw IndexError("an index can only have a single ellipsis ('...')");
  if (consumed > ndim)
    throw IndexError("too many indices for array: array is " + std::to_string(ndim) + "-dimensional, but " +
                     std::to_string(consumed) + " were indexed");
  return consumed;
}

Array rebuild(const Array& array, Dims shape, Dims strides) {
  return array.view(array.dtype(), std::move(shape), std::move(strides), array.offset());
}

/// A CPU reads an element from any address, but on a GPU a misaligned read destroys the process's whole context.
Array check_alignment(Array view, const std::string& function) {
  if (view.size() > 0 && view.device().target().needs_alignment &&
      !is_aligned(view.data(), view.dtype(), view.shape(), view.strides()))
    throw ValueError(function + "the elements would not be aligned to " + std::to_string(alignment(view.dtype())) +
                     " bytes, which " + view.device().name() + " needs: copy the array first");
  return view;
}

}  // namespace

Array Array::read_only() const {
  Array view = *this;
  view.writable_ = false;
  return view;
}

Array Array::view(Dtype dtype, Dims shape, Dims strides, int64_t offset) const {
  Array view(buffer_, dtype, std::move(shape), std::move(strides), offset);
  view.writable_ = writable_;
  view.is_value_ = is_value_;
  return view;
}

Array&& Array::as_value() && {
  if (ndim() == 0) {
    writable_ = false;
    is_value_ = true;
  }
  return std::move(*this);
}

Array Array::as_value() const& { return Array(*this).as_value(); }

Array Array::transpose() const {
  Array view = *this;
  std::reverse(view.shape_.begin(), view.shape_.end());
  std::reverse(view.strides_.begin(), view.strides_.end());
  return view;
}

Array Array::transpose(const Dims& axes) const {
  if (axes.size() != ndim())
    throw ShapeError("transpose: axes " + to_string(axes) + " don't match an array of shape " + to_string(shape_));
  Array view = *this;
  uint64_t seen = 0;
  for (int i = 0; i < axes.size(); ++i) {
    const int axis = normalize_axis("transpose", axes[i], ndim());
    if (seen >> axis & 1) throw ShapeError("transpose: repeated axis in " + to_string(axes));
    seen |= uint64_t{1} << axis;
    view.shape_[i] = shape_[axis];
    view.strides_[i] = strides_[axis];
  }
  return view;
}

Array Array::swapaxes(int64_t a, int64_t b) const {
  const int first = normalize_axis("swapaxes", a, ndim()), second = normalize_axis("swapaxes", b, ndim());
  Array view = *this;
  std::swap(view.shape_[first], view.shape_[second]);
  std::swap(view.strides_[first], view.strides_[second]);
  return view;
}

Array Array::reshape(const Dims& shape) const {
  if (std::optional<Array> view = reshape_view(shape)) return *std::move(view);
  return *copy().reshape_view(shape);
}

std::optional<Array> Array::reshape_view(const Dims& shape) const {
  if (shape == shape_) return *this;
  Dims target = infer_extent(shape, size_);
  if (is_c_contiguous()) {
    Dims strides = c_strides(target, itemsize());
    return rebuild(*this, std::move(target), std::move(strides));
  }
  Dims strides(target.size());
  if (!reshape_strides(shape_, strides_, target, itemsize(), strides)) return std::nullopt;
  return rebuild(*this, std::move(target), std::move(strides));
}

Array Array::broadcast_to(const Dims& shape) const {
  const int lead = shape.size() - ndim();
  bool fits = lead >= 0;
  Dims strides(shape.size());
  for (int axis = 0; fits && axis < ndim(); ++axis) {
    if (shape_[axis] != 1) strides[lead + axis] = strides_[axis];
    fits = shape_[axis] == 1 || shape_[axis] == shape[lead + axis];
  }
  if (!fits)
    throw ShapeError("broadcast_to: cannot broadcast shape " + to_string(shape_) + " to shape " + to_string(shape));
  return rebuild(*this, shape, std::move(strides)).read_only();
}

Array Array::squeeze(std::optional<int64_t> axis) const {
  int only = -1;
  const bool scalar = ndim() == 0 && (axis == 0 || axis == -1);  // NumPy accepts these
  if (axis && !scalar) {
    only = normalize_axis("squeeze", *axis, ndim());
    if (shape_[only] != 1)
      throw ShapeError("squeeze: cannot select an axis to squeeze out which has size not equal to one: axis " +
                       std::to_string(*axis) + " of shape " + to_string(shape_));
  }
  Dims shape, strides;
  for (int i = 0; i < ndim(); ++i) {
    if (shape_[i] == 1 && (only < 0 || only == i)) continue;
    shape.push_back(shape_[i]);
    strides.push_back(strides_[i]);
  }
  return rebuild(*this, std::move(shape), std::move(strides));
}

Array Array::expand_dims(int64_t axis) const {
  const int place = normalize_axis("expand_dims", axis, ndim() + 1);
  Dims shape, strides;
  for (int i = 0; i <= ndim(); ++i) {
    if (i == place) {
      shape.push_back(1);
      strides.push_back(i < ndim() ? wrapping_product(strides_[i], std::max<int64_t>(shape_[i], 1)) : itemsize());
    }
    if (i < ndim()) {
      shape.push_back(shape_[i]);
      strides.push_back(strides_[i]);
    }
  }
  return rebuild(*this, std::move(shape), std::move(strides));
}

Array Array::index(std::span<const Index> indices) const {
  const int consumed = consumed_axes(indices, ndim());
  Dims shape, strides;
  int64_t offset = offset_;
  int axis = 0;
  auto keep = [&](int axes) {
    for (const int end = axis + axes; axis < end; ++axis) {
      shape.push_back(shape_[axis]);
      strides.push_back(strides_[axis]);
    }
  };
  for (const Index& entry : indices) {
    if (const int64_t* position = std::get_if<int64_t>(&entry)) {
      const int64_t extent = shape_[axis];
      if (*position < -extent || *position >= extent)
        throw IndexError("index " + std::to_string(*position) + " is out of bounds for axis " + std::to_string(axis) +
                         " with size " + std::to_string(extent));
      offset += (*position < 0 ? *position + extent : *position) * strides_[axis++];
    } else if (const Slice* slice = std::get_if<Slice>(&entry)) {
      const ClippedSlice clipped = clip_slice(*slice, shape_[axis]);
      offset += clipped.start * strides_[axis];
      shape.push_back(clipped.length);
      strides.push_back(wrapping_product(strides_[axis++], clipped.step));
    } else if (std::holds_alternative<NewAxis>(entry)) {
      shape.push_back(1);
      strides.push_back(0);
    } else {
      keep(ndim() - consumed);
    }
  }
  keep(ndim() - axis);
  return view(dtype_, std::move(shape), std::move(strides), offset);
}

Array Array::view(Dtype dtype) const {
  const int64_t from = itemsize(), to = iruka::itemsize(dtype);
  const std::string function = std::string("view: ") + name(dtype_) + " as " + name(dtype) + ": ";
  Array view = *this;
  view.dtype_ = dtype;
  if (from == to) return check_alignment(std::move(view), function);
  if (ndim() == 0)
    throw ValueError(function + "changing the dtype of a 0-d array is only supported if the itemsize is unchanged");
  const int last = ndim() - 1;
  if (shape_[last] != 1 && size_ != 0 && strides_[last] != from)
    throw ValueError(function +
                     "to change to a dtype of a different size, the last axis must be contiguous, not of "
                     "stride " +
                     std::to_string(strides_[last]));
  const int64_t bytes = shape_[last] * from;
  if (bytes % to != 0)
    throw ValueError(function + "the last axis has " + std::to_string(bytes) + " bytes, which is no multiple of " +
                     std::to_string(to));
  view.shape_[last] = bytes / to;
  view.strides_[last] = to;
  view.size_ = count(view.shape_);
  return check_alignment(std::move(view), function);
}

}  // namespace iruka
