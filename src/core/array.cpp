// Arrays: making and copying them, their flags, single elements, and whether two share memory.
#include "iruka/array.h"

#include <cstring>
#include <utility>

#include "core/array_operations.h"
#include "core/device.h"
#include "core/layout.h"
#include "iruka/device.h"

namespace iruka {
namespace {

void check_rank(const Dims& shape) {
  if (shape.size() > kMaxRank)
    throw ShapeError("an array has at most " + std::to_string(kMaxRank) + " axes, not " + std::to_string(shape.size()));
}

/// Whether strides are those of a dense array whose axes are walked from the fastest by `axis_at`.
template <class AxisAt>
bool dense(const Array& array, AxisAt axis_at) {
  if (array.size() == 0) return true;
  const int64_t* shape = array.shape().data();
  const int64_t* strides = array.strides().data();
  int64_t expected = array.itemsize();
  for (int i = 0; i < array.ndim(); ++i) {
    const int axis = axis_at(i);
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

}  // namespace

std::pair<uintptr_t, uintptr_t> byte_bounds(const Array& array) {
  uintptr_t low = reinterpret_cast<uintptr_t>(array.data());
  uintptr_t high = low + static_cast<uintptr_t>(array.itemsize());
  for (int axis = 0; axis < array.ndim(); ++axis) {
    const int64_t reach = (array.shape(axis) - 1) * array.strides()[axis];
    (reach < 0 ? low : high) += static_cast<uintptr_t>(reach);
  }
  return {low, high};
}

Array::Array(BufferHandle buffer, Dtype dtype, Dims shape, Dims strides, int64_t offset)
    : buffer_(std::move(buffer)),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      offset_(offset),
      dtype_(dtype) {
  check_rank(shape_);
  if (strides_.size() != shape_.size())
    throw ShapeError("Array: strides " + to_string(strides_) + " do not go with shape " + to_string(shape_));
  size_ = count(shape_);
  if (int64_t bytes; __builtin_mul_overflow(size_, iruka::itemsize(dtype_), &bytes))
    raise_too_large(shape_, iruka::itemsize(dtype_));
}

Array Array::empty(const Dims& shape, Dtype dtype, Device& device) {
  check_rank(shape);
  Dims strides = c_strides(shape, iruka::itemsize(dtype));  // raises where the number of bytes overflows
  const int64_t bytes = count(shape) * iruka::itemsize(dtype);
  try {
    return Array(std::make_shared<Buffer>(device, static_cast<size_t>(bytes)), dtype, shape, std::move(strides));
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError(std::string(error.what()) + "; for an array of " + name(dtype) + " of shape " +
                           to_string(shape));
  }
}

Array Array::empty(const Dims& shape, Dtype dtype) { return empty(shape, dtype, default_device()); }

Array Array::from_bytes(const void* values, int64_t count, Dtype dtype, const Dims& shape) {
  if (iruka::count(shape) != count)
    throw ShapeError("from: " + std::to_string(count) + " values do not fill shape " + to_string(shape));
  Array result = empty(shape, dtype);
  if (count == 0) return result;
  result.device().copy(result.data(), values, static_cast<size_t>(result.nbytes()));
  result.device().synchronize_stream(result.device().current_stream());
  return result;
}

bool Array::is_c_contiguous() const {
  return dense(*this, [last = ndim() - 1](int i) { return last - i; });
}

bool Array::is_f_contiguous() const {
  return dense(*this, [](int i) { return i; });
}

void Array::raise_read_only(std::string_view what) const {
  std::string message = std::string(what) + " is read-only";
  if (is_value())
    message += ": it is a value, as x[3] and x.sum() are, which never changes; x[3:4] and x[3, ...] are views of x";
  throw ValueError(message);
}

bool Array::may_overlap(const Array& other) const {
  if (size_ == 0 || other.size_ == 0 || &device() != &other.device()) return false;
  // Blocks of a pool never overlap, but foreign memory may be shared.
  if (buffer_ != other.buffer_ && !buffer_->foreign() && !other.buffer_->foreign()) return false;
  const auto [low, high] = byte_bounds(*this);
  const auto [other_low, other_high] = byte_bounds(other);
  return low < other_high && other_low < high;
}

Array Array::copy() const {
  Array result = empty(shape_, dtype_, device());
  array_operations.write(*this, result);
  return result;
}

Array Array::contiguous() const { return is_c_contiguous() ? *this : copy(); }

Array Array::astype(Dtype dtype, bool copy) const {
  if (dtype == dtype_) return copy ? this->copy() : *this;
  Array result = empty(shape_, dtype, device());
  array_operations.write(*this, result);
  return result;
}

}  // namespace iruka
