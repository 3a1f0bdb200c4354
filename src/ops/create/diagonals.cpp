// Diagonals, triangles, and positions as indices.
#include <algorithm>

#include "core/device.h"
#include "core/once.h"
#include "iruka/indexing.h"

namespace iruka {
namespace {

Scalar integer(int64_t value) { return Scalar(value).typed(Dtype::int64); }

/// 0, 1, ... count - 1 along the last axis or the one before it.
Array counting(int64_t count, bool is_row, Device& device) {
  const ElementwiseKernel& kernel =
      made_once([&] { return ElementwiseKernel("", "int32 y", "y = int(i)", "counting"); });
  Array numbers = Array::empty({count}, Dtype::int32, device);
  if (count > 0) kernel(numbers);
  return is_row ? numbers.reshape({count, 1}) : numbers;
}

/// Kernels compare 32-bit numbers, which hold the extents of every array of two axes. A diagonal outside is clamped to
/// one just outside.
Scalar near_diagonal(int64_t k) { return Scalar(std::clamp<int64_t>(k, INT32_MIN, INT32_MAX)).typed(Dtype::int64); }

void check_matrix(const char* function, const Array& x) {
  if (x.ndim() < 2)
    throw ValueError(std::string(function) + ": the array must have at least two axes, not shape " +
                     to_string(x.shape()));
}

}  // namespace

Array diagonal(const Array& x, int64_t offset, int64_t named1, int64_t named2) {
  if (x.ndim() < 2) throw ValueError("diag requires an array of at least two dimensions");
  const int axis1 = normalize_axis("diagonal", named1, x.ndim()), axis2 = normalize_axis("diagonal", named2, x.ndim());
  if (axis1 == axis2) throw ValueError("axis1 and axis2 cannot be the same");
  Dims shape, strides;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (axis == axis1 || axis == axis2) continue;
    shape.push_back(x.shape(axis));
    strides.push_back(x.strides()[axis]);
  }
  const int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
  const int64_t length = std::max<int64_t>(0, std::min(x.shape(axis1) - row, x.shape(axis2) - column));
  shape.push_back(length);
  strides.push_back(x.strides()[axis1] + x.strides()[axis2]);
  // An empty view begins at x's first element.
  const int64_t first = length ? row * x.strides()[axis1] + column * x.strides()[axis2] : 0;
  return x.view(x.dtype(), shape, strides, x.offset() + first);
}

Array tri(int64_t rows, int64_t columns, int64_t k) {
  const ElementwiseKernel& kernel = made_once(
      [&] { return ElementwiseKernel("int32 row, int32 column, int64 k", "bool y", "y = column - row <= k;", "tri"); });
  Array result = Array::empty({std::max<int64_t>(rows, 0), std::max<int64_t>(columns, 0)}, Dtype::bool_);
  if (result.size() == 0) return result;
  Device& device = result.device();
  kernel(counting(rows, true, device), counting(columns, false, device), near_diagonal(k), result);
  return result;
}

namespace {

/// x where the condition `keeps` on column - row holds, else 0.
ElementwiseKernel triangle_kernel(const char* name, const std::string& keeps) {
  return ElementwiseKernel("T x, int32 row, int32 column, int64 k", "T y",
                           "y = column - row " + keeps + " k ? x : T(0);", name);
}

Array triangle(const ElementwiseKernel& kernel, const Array& x, int64_t k) {
  check_matrix(kernel.name().c_str(), x);
  Array result = Array::empty(x.shape(), x.dtype(), x.device());
  if (result.size() == 0) return result;
  const Array rows = counting(x.shape(x.ndim() - 2), true, x.device()),
              columns = counting(x.shape(x.ndim() - 1), false, x.device());
  kernel(x, rows, columns, near_diagonal(k), result);
  return result;
}

}  // namespace

Array tril(const Array& x, int64_t k) {
  const ElementwiseKernel& kernel = made_once([] { return triangle_kernel("tril", "<="); });
  return triangle(kernel, x, k);
}

Array triu(const Array& x, int64_t k) {
  const ElementwiseKernel& kernel = made_once([] { return triangle_kernel("triu", ">="); });
  return triangle(kernel, x, k);
}

Array unravel_index(const Array& positions, const Dims& shape) {
  Dims all{shape.size()};
  for (int64_t extent : positions.shape()) all.push_back(extent);
  Array result = Array::empty(all, Dtype::int64, positions.device());
  if (positions.size() == 0) return result;
  const ElementwiseKernel& split = made_once([&] {
    return ElementwiseKernel("int64 position, int64 inner, int64 extent", "int64 index",
                             "index = position / inner % extent", "coordinate");
  });
  int64_t inner = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    split(positions, integer(inner), integer(shape[axis]), result.at(axis));
    inner *= shape[axis];
  }
  return result;
}

}  // namespace iruka
