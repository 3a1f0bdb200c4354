// Elements by their rank: selection and sorting of rows on the CPU.
#pragma once

#include <span>

#include "iruka/array.h"

namespace iruka::ops {

/// For each row (the last axis) of `x`, the elements that sorting would put at `ranks` (0 <= rank < n, in any order):
/// shape (ranks, rows' shape). A row with a NaN gives NaN. Raises TypeError for complex numbers, DeviceError for an
/// array that is not on the CPU.
Array select_ranks(const Array& x, std::span<const int64_t> ranks);

/// The inverse of each row's weighted distribution function at `quantiles`: shape (quantiles, rows' shape). `weights`
/// is float64, of x's shape. Raises ValueError if a row's weights have no positive finite sum.
Array select_weighted(const Array& x, const Array& weights, std::span<const double> quantiles);

/// The same, made of functions that every device has.
Array select_weighted_by_functions(const Array& rows, const Array& weights, std::span<const double> shares);

}  // namespace iruka::ops
