// Searches in sorted arrays, and interpolation between sorted points.
#pragma once

#include <optional>

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka {

/// Which of several possible places a search gives: the first or the last.
enum class SearchSide : uint8_t { left, right };

/// The place of each element of `sought` in `sorted` (one axis, ascending): int64, the shape of `sought`. left: the
/// first index i with sorted[i] >= element; right: with sorted[i] > element. NaN comes last. If `sorted` is not sorted,
/// `order` has the integers that sort it. Raises ValueError for another number of axes and for an order of another
/// length or out of range, TypeError for an order that is not of integers.
IRUKA_API Array searchsorted(const Array& sorted, const Argument& sought, SearchSide side = SearchSide::left,
                             const Array* order = nullptr);

/// The bin that each element of x falls into: int64, i with bins[i - 1] <= x < bins[i], or with `right`
/// bins[i - 1] < x <= bins[i]. `bins` has one axis and ascends or descends, else ValueError (on a GPU when it is next
/// waited for). Raises TypeError for complex numbers.
IRUKA_API Array digitize(const Array& x, const Array& bins, bool right = false);

/// What interp() gives outside its points; the first and last value by default.
struct InterpOptions {
  std::optional<Scalar> left{}, right{};
  std::optional<double> period{};  ///< x and xp are taken modulo it, in any order
};
/// Piecewise linear interpolation of the points (xp, fp) at x: float64 or complex128, x's shape. xp ascends. Raises
/// ValueError for lengths that differ, no points, more than one axis, or period 0, TypeError for complex x or xp.
IRUKA_API Array interp(const Array& x, const Array& xp, const Array& fp, const InterpOptions& options = {});

}  // namespace iruka
