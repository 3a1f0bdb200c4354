// Arrays that index others.
#include "iruka/grids.h"

#include <algorithm>

#include "iruka/rearranging.h"
#include "ops/functions.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

Array integers(const char* function, const Array& x) {
  if (is_inexact(x.dtype()))
    throw TypeError(std::string(function) + ": only int indices permitted, not " + name(x.dtype()));
  return x.astype(Dtype::int64, false);
}

/// Indices brought into an extent.
Array within(const Array& x, int64_t extent, IndexMode mode) {
  if (mode == IndexMode::wrap) return remainder(x, extent);
  if (mode == IndexMode::clip) return clip(x, 0, extent - 1);
  if (x.size() > 0 && any(bitwise_or(less(x, 0), greater_equal(x, extent))).item().as_bool())
    throw ValueError("invalid entry in coordinates array");
  return x;
}

/// How many positions each axis skips.
Dims steps_of(const Dims& shape, bool is_fortran) {
  Dims steps(shape.size());
  __int128 inner = 1;
  for (int k = 0; k < shape.size(); ++k) {
    const int axis = is_fortran ? k : shape.size() - 1 - k;
    if (shape[axis] < 0) throw ValueError("invalid dims: the shape " + to_string(shape) + " has a negative extent");
    steps[axis] = static_cast<int64_t>(inner);
    inner *= shape[axis];
    if (inner > INT64_MAX)
      throw ValueError("invalid dims: array size defined by dims is larger than the maximum possible size.");
  }
  if (inner == 0) throw ValueError("cannot unravel if shape has zero entries (is empty).");
  return steps;
}

}  // namespace

std::vector<Array> sparse_indices(const Dims& shape, Dtype dtype) {
  std::vector<Array> axes;
  axes.reserve(static_cast<size_t>(shape.size()));
  for (int axis = 0; axis < shape.size(); ++axis)
    axes.push_back(arange(0, shape[axis], 1, dtype).reshape(along_axis(shape.size(), axis, shape[axis])));
  return axes;
}

Array indices(const Dims& shape, Dtype dtype) {
  Dims all{shape.size()};
  for (const int64_t extent : shape) all.push_back(extent);
  Array result = Array::empty(all, dtype);
  const std::vector<Array> axes = sparse_indices(shape, dtype);
  for (int axis = 0; axis < shape.size(); ++axis) slice_at(result, 0, axis).assign(axes[static_cast<size_t>(axis)]);
  return result;
}

std::vector<Array> meshgrid(std::span<const Array> coordinates, const MeshOptions& options) {
  const int ndim = static_cast<int>(coordinates.size());
  std::vector<Array> grid;
  for (int axis = 0; axis < ndim; ++axis) {
    const Array& along = coordinates[static_cast<size_t>(axis)];
    const int place = options.is_cartesian && ndim > 1 && axis < 2 ? 1 - axis : axis;
    grid.push_back(along.reshape(along_axis(ndim, place, along.size())));
  }
  if (!options.is_sparse && ndim > 0) {
    std::vector<const Dims*> shapes;
    shapes.reserve(grid.size());
    for (const Array& array : grid) shapes.push_back(&array.shape());
    const Dims shape = broadcast_shapes(shapes);
    for (Array& array : grid) array = array.broadcast_to(shape).read_only();
  }
  if (options.copies)
    for (Array& array : grid) array = array.copy();
  return grid;
}

std::vector<Array> ix_(std::span<const Array> vectors) {
  const int ndim = static_cast<int>(vectors.size());
  std::vector<Array> result;
  for (int axis = 0; axis < ndim; ++axis) {
    const Array& vector = vectors[static_cast<size_t>(axis)];
    if (vector.ndim() != 1) throw ValueError("Cross index must be 1 dimensional");
    const Array places = vector.dtype() == Dtype::bool_ ? flatnonzero(vector) : vector;
    result.push_back(places.reshape(along_axis(ndim, axis, places.size())));
  }
  return result;
}

std::vector<Array> tril_indices(int64_t rows, int64_t columns, int64_t k) {
  return unstack(nonzero(tri(rows, columns, k)));
}

std::vector<Array> triu_indices(int64_t rows, int64_t columns, int64_t k) {
  return unstack(nonzero(logical_not(tri(rows, columns, k - 1))));
}

std::vector<Array> diag_indices(int64_t n, int64_t ndim) {
  return std::vector<Array>(static_cast<size_t>(std::max<int64_t>(ndim, 0)), arange(n));
}

Array ravel_multi_index(std::span<const Array> indices, const Dims& shape, std::span<const IndexMode> modes,
                        bool is_fortran) {
  if (static_cast<int>(indices.size()) != shape.size() || static_cast<int>(modes.size()) != shape.size())
    throw ValueError("parameter multi_index must be a sequence of length " + std::to_string(shape.size()));
  if (shape.empty()) throw ValueError("ravel_multi_index: at least one axis is needed");
  const Dims steps = steps_of(shape, is_fortran);
  Array result;
  for (int axis = 0; axis < shape.size(); ++axis) {
    const size_t k = static_cast<size_t>(axis);
    const Array term = multiply(within(integers("ravel_multi_index", indices[k]), shape[axis], modes[k]), steps[axis]);
    result = result.valid() ? add(result, term) : term;
  }
  return result;
}

}  // namespace iruka
