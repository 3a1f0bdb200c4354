// Weights of the elements that a mean or a quantile takes along axes.
#pragma once

#include <optional>

#include "iruka/array.h"

namespace iruka::ops {

/// The weights with x's axes, broadcasting against it: they have x's shape, or that of `axes`. Raises TypeError for
/// weights of another shape without axes, ValueError where they do not fit.
Array weights_along(const Array& x, const Array& weights, const std::optional<Dims>& axes);

}  // namespace iruka::ops
