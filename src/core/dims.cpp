// Lists of extents: text, counts, strides, broadcasting.
#include "iruka/dims.h"

#include "core/layout.h"
#include "iruka/array.h"
#include "iruka/error.h"

namespace iruka {

void Dims::raise_full() { throw ShapeError("an array has at most " + std::to_string(kMaxRank) + " axes"); }

std::string to_string(const Dims& dims) {
  std::string text = "(";
  for (int axis = 0; axis < dims.size(); ++axis) {
    if (axis) text += ", ";
    text += std::to_string(dims[axis]);
  }
  return text + (dims.size() == 1 ? ",)" : ")");
}

int64_t count(const Dims& shape) {
  // As in NumPy, the product of the other extents must fit into 64 bits even if one extent is 0.
  int64_t product = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) throw ShapeError("shape " + to_string(shape) + ": negative dimensions are not allowed");
    if (extent == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, extent, &product))
      throw ShapeError("shape " + to_string(shape) + ": the product of the extents does not fit in 63 bits");
  }
  return empty ? 0 : product;
}

void raise_too_large(const Dims& shape, int64_t itemsize) {
  throw ShapeError("shape " + to_string(shape) + " with elements of " + std::to_string(itemsize) +
                   " bytes has more than 2^63 - 1 bytes");
}

Dims c_strides(const Dims& shape, int64_t itemsize) {
  Dims strides(shape.size());
  int64_t stride = itemsize;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    if (shape[axis] > 1 && __builtin_mul_overflow(stride, shape[axis], &stride)) raise_too_large(shape, itemsize);
  }
  return strides;
}

Dims broadcast_shapes(std::span<const Dims* const> shapes) {
  int rank = 0;
  for (const Dims* shape : shapes) rank = std::max(rank, shape->size());
  Dims result(rank, 1);
  for (const Dims* shape : shapes) {
    const int lead = rank - shape->size();
    for (int axis = 0; axis < shape->size(); ++axis) {
      const int64_t extent = (*shape)[axis];
      if (extent == 1 || extent == result[lead + axis]) continue;
      if (result[lead + axis] == 1) {
        result[lead + axis] = extent;
        continue;
      }
      std::string list;
      for (const Dims* each : shapes) list += " " + to_string(*each);
      throw ShapeError("operands could not be broadcast together with shapes" + list);
    }
  }
  return result;
}

int normalize_axis(const char* function, int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim) throw AxisError(function, axis, ndim);
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace iruka
