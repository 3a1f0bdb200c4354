// Indices of ONNX's operators as those of arrays.
#pragma once

#include <vector>

#include "iruka/indexing.h"
#include "nn/operators/operator.h"

namespace iruka::nn {

/// What takes x[i, indices[i, j, k], k] for axis 1, for every place of `indices`, which may be smaller than x.
std::vector<AnyIndex> indices_along(const Array& indices, int axis);

/// What the last axis of `places` says: the leading indices of x, behind `batch` axes that both share. Raises
/// ValueError for more of them than x has axes.
std::vector<AnyIndex> indices_of_places(const Call& call, const Array& x, const Array& places, int batch);

}  // namespace iruka::nn
