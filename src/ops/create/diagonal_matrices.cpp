// Matrices made of diagonals, and diagonals filled and summed.
#include <algorithm>

#include "iruka/diagonals.h"
#include "iruka/indexing.h"
#include "iruka/ops.h"
#include "ops/views.h"

namespace iruka {

Array diagflat(const Array& x, int64_t k) {
  const int64_t extent = x.size() + (k < 0 ? -k : k);
  Array result = Array::empty({extent, extent}, x.dtype(), x.device());
  result.fill(0);
  if (x.size() > 0) diagonal(result, k).assign(x.ravel());
  return result;
}

Array diag(const Array& x, int64_t k) {
  if (x.ndim() == 2) return diagonal(x, k).copy();
  if (x.ndim() != 1) throw ValueError("Input must be 1- or 2-d.");
  return diagflat(x, k);
}

void fill_diagonal(const Array& x, const Array& values, bool wrap) {
  if (x.ndim() < 2) throw ValueError("array must be at least 2-d");
  if (x.ndim() > 2 && !std::ranges::all_of(x.shape(), [&](int64_t extent) { return extent == x.shape(0); }))
    throw ValueError("All dimensions of input must be of equal length");
  x.check_writable("assignment destination");
  if (values.size() == 0 || x.size() == 0) return;
  int64_t step = 0, stride = 0, inner = 1;
  for (int axis = x.ndim() - 1; axis >= 0; --axis) {
    step += inner;
    inner *= x.shape(axis);
    stride += x.strides()[axis];
  }
  const int64_t least = *std::ranges::min_element(x.shape());
  const int64_t length = wrap && x.ndim() == 2 ? (x.size() + step - 1) / step : least;
  if (length == least && values.size() == 1) {
    x.view(x.dtype(), {length}, {stride}, x.offset()).assign(values.reshape({}));
    return;
  }
  put(x, arange(0, length * step, step).to_device(x.device()), values);
}

Array trace(const Array& x, int64_t offset, int64_t axis1, int64_t axis2, std::optional<Dtype> dtype) {
  return sum(diagonal(x, offset, axis1, axis2), Dims{-1}, false, dtype);
}

}  // namespace iruka
