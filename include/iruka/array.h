// iruka::Array: shape, strides, dtype and a handle on memory. Copying one copies no elements.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "iruka/dims.h"
#include "iruka/dtype.h"
#include "iruka/error.h"
#include "iruka/memory.h"

namespace iruka {

/// A half-open range with a step, as Python's slice; absent ends mean the array's own.
struct Slice {
  std::optional<int64_t> start{}, stop{}, step{};
};
struct NewAxis {};
struct Ellipsis {};
/// One entry of a basic index.
using Index = std::variant<int64_t, Slice, NewAxis, Ellipsis>;

class IRUKA_API Array {
 public:
  /// An empty handle: valid() is false.
  Array() = default;
  /// A view of `buffer`; strides and offset are in bytes. The caller ensures that all elements are inside the buffer.
  Array(BufferHandle buffer, Dtype dtype, Dims shape, Dims strides, int64_t offset = 0);

  /// Uninitialised, C order. Raises ShapeError (negative extent, rank over 32, size overflow), OutOfMemoryError.
  static Array empty(const Dims& shape, Dtype dtype, Device& device);
  static Array empty(const Dims& shape, Dtype dtype);  ///< on the default device
  /// A C-ordered copy of `values`.
  template <class T>
  static Array from(std::span<const T> values, const Dims& shape) {
    return from_bytes(values.data(), static_cast<int64_t>(values.size()), dtype_of<T>, shape);
  }
  template <class T>
  static Array from(std::initializer_list<T> values) {
    return from(std::span<const T>(values.begin(), values.size()), Dims{static_cast<int64_t>(values.size())});
  }

  bool valid() const { return buffer_ != nullptr; }
  Dtype dtype() const { return dtype_; }
  int ndim() const { return shape_.size(); }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }  ///< bytes
  int64_t shape(int axis) const { return shape_[axis]; }
  int64_t size() const { return size_; }
  int64_t itemsize() const { return iruka::itemsize(dtype_); }
  int64_t nbytes() const { return size_ * itemsize(); }
  Device& device() const { return buffer_->device(); }
  bool writable() const { return buffer_->writable() && writable_; }
  /// Raises ValueError ("`what` is read-only") unless the array is writable.
  void check_writable(std::string_view what) const {
    if (!writable()) raise_read_only(what);
  }
  /// Whether this is a 0-d array that never changes: what Python gets where NumPy returns a scalar.
  bool is_value() const { return is_value_ && shape_.size() == 0; }
  bool is_c_contiguous() const;
  bool is_f_contiguous() const;
  /// The address of the first element.
  void* data() const { return static_cast<char*>(buffer_->data()) + offset_; }
  const BufferHandle& buffer() const { return buffer_; }
  int64_t offset() const { return offset_; }

  // Views: no element moves. Each raises ShapeError or IndexError that names the rule and the values.
  Array transpose() const;
  Array transpose(const Dims& axes) const;
  /// A view when strides allow it, else a copy. One extent may be -1.
  Array reshape(const Dims& shape) const;
  /// reshape without a copy; no value where the strides do not allow it.
  std::optional<Array> reshape_view(const Dims& shape) const;
  Array ravel() const { return reshape({-1}); }
  Array broadcast_to(const Dims& shape) const;
  Array squeeze(std::optional<int64_t> axis = {}) const;
  Array expand_dims(int64_t axis) const;
  Array swapaxes(int64_t a, int64_t b) const;
  /// Basic indexing, as NumPy's x[i, a:b:c, None, ...].
  Array index(std::span<const Index> indices) const;
  template <class... I>
  Array at(I... indices) const {
    const Index list[] = {Index(indices)...};
    return index(list);
  }
  /// The same bytes as another dtype, the last axis rescaled. Raises ValueError where elements are unaligned on a GPU.
  Array view(Dtype dtype) const;
  Array read_only() const;
  /// Any view of the buffer, as writable as this array; strides and offset are in bytes. The caller ensures that all
  /// elements are inside the buffer.
  Array view(Dtype dtype, Dims shape, Dims strides, int64_t offset) const;
  /// This array if it has axes, else a value (see is_value()). Nobody may write to the memory afterwards.
  Array as_value() const&;
  Array&& as_value() &&;

  // Copies (made by kernels).
  Array copy() const;        ///< C order
  Array contiguous() const;  ///< itself when C-contiguous, else a copy
  Array astype(Dtype dtype, bool copy = true) const;
  /// Itself if it is on that device, else a copy in the same order of axes, made after the work on this array.
  Array to_device(Device& device) const;
  void fill(const Scalar& value);  ///< raises ValueError on a read-only array
  /// Writes `source`, broadcast and cast (same rules as NumPy's x[...] = source), also if the two overlap or are on
  /// different devices.
  void assign(const Array& source);

  /// The only element. Raises ValueError when size() is not 1.
  Scalar item() const;
  template <class T>
  T item() const;
  /// The elements in C order.
  template <class T>
  std::vector<T> to_vector() const {
    std::vector<T> values(static_cast<size_t>(size_));
    copy_to(values.data(), dtype_of<T>);
    return values;
  }

  /// Whether the two arrays' memory may overlap, by their bounds: interleaved views count as overlapping.
  bool may_overlap(const Array& other) const;

 private:
  static Array from_bytes(const void* values, int64_t count, Dtype dtype, const Dims& shape);
  void copy_to(void* values, Dtype dtype) const;
  [[noreturn]] void raise_read_only(std::string_view what) const;

  BufferHandle buffer_;
  Dims shape_, strides_;
  int64_t offset_ = 0;
  int64_t size_ = 0;
  Dtype dtype_ = Dtype::float64;
  bool writable_ = true;
  bool is_value_ = false;
};

template <> inline bool Array::item<bool>() const { return item().as_bool(); }
template <> inline int64_t Array::item<int64_t>() const { return item().as_int64(); }
template <> inline double Array::item<double>() const { return item().as_double(); }
template <> inline float Array::item<float>() const { return static_cast<float>(item().as_double()); }
template <> inline int32_t Array::item<int32_t>() const { return static_cast<int32_t>(item().as_int64()); }

/// The shape all `shapes` broadcast to. Raises ShapeError that lists them.
IRUKA_API Dims broadcast_shapes(std::span<const Dims* const> shapes);
/// Byte strides of a C-ordered array. Raises ShapeError where it has more than 2^63 - 1 bytes.
IRUKA_API Dims c_strides(const Dims& shape, int64_t itemsize);
/// Product of extents. Raises ShapeError on overflow or a negative extent.
IRUKA_API int64_t count(const Dims& shape);
/// 0 <= result < ndim; raises AxisError naming `function`.
IRUKA_API int normalize_axis(const char* function, int64_t axis, int ndim);

}  // namespace iruka
