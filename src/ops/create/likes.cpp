// Arrays made like others, and of powers.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "iruka/creation.h"
#include "ops/functions.h"

namespace iruka {
namespace {

/// The axes in the order in which they lie in memory, the one of the largest stride first.
std::vector<int64_t> axes_in_memory(const Array& x) {
  std::vector<int64_t> axes(static_cast<size_t>(x.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  const auto stride = [&](int64_t axis) { return std::abs(x.strides()[static_cast<int>(axis)]); };
  std::ranges::stable_sort(axes, [&](int64_t a, int64_t b) { return stride(a) > stride(b); });
  return axes;
}

/// An array whose axes lie in memory in this order.
Array laid_out(const Dims& shape, const std::vector<int64_t>& axes, Dtype dtype, Device& device) {
  Dims extents, places(shape.size());
  for (const int64_t axis : axes) {
    places[static_cast<int>(axis)] = extents.size();
    extents.push_back(shape[static_cast<int>(axis)]);
  }
  return Array::empty(extents, dtype, device).transpose(places);
}

}  // namespace

Array empty_like(const Array& x, const LikeOptions& options) {
  const Dims& shape = options.shape ? *options.shape : x.shape();
  const Dtype dtype = options.dtype.value_or(x.dtype());
  Device& device = options.device ? *options.device : x.device();
  const bool is_fortran = options.order == MemoryOrder::fortran ||
                          (options.order == MemoryOrder::any && x.is_f_contiguous() && !x.is_c_contiguous());
  std::vector<int64_t> axes;
  if (is_fortran)
    for (int axis = shape.size(); axis-- > 0;) axes.push_back(axis);
  else if (options.order == MemoryOrder::keep && shape.size() == x.ndim() && !x.is_c_contiguous())
    axes = axes_in_memory(x);
  return std::ranges::is_sorted(axes) ? Array::empty(shape, dtype, device) : laid_out(shape, axes, dtype, device);
}

Array full_like(const Array& x, const Scalar& value, const LikeOptions& options) {
  Array result = empty_like(x, options);
  result.fill(value);
  return result;
}

Array zeros_like(const Array& x, const LikeOptions& options) { return full_like(x, false, options); }
Array ones_like(const Array& x, const LikeOptions& options) { return full_like(x, true, options); }

Array vander(const Array& x, std::optional<int64_t> wanted, bool increasing) {
  if (x.ndim() != 1) throw ValueError("vander: the array must have one axis, not " + std::to_string(x.ndim()));
  const int64_t columns = wanted.value_or(x.size());
  if (columns < 0)
    throw ValueError("vander: the number of columns must not be negative, but is " + std::to_string(columns));
  const Array powers = increasing ? arange(0, columns, 1) : arange(columns - 1, -1, -1);
  const Dtype dtype = promote(x.dtype(), Dtype::int64);
  return power(x.astype(dtype, false).reshape({x.size(), 1}), powers.to_device(x.device()).reshape({1, columns}));
}

}  // namespace iruka
