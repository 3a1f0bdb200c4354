// Differences, slopes, integrals and convolutions along an axis.
#pragma once

#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka {

/// The difference of neighbours along an axis, x[1:] - x[:-1], taken `times` times; of bools, whether neighbours
/// differ. `prepend` and `append` are joined to x first, arrays without axes as one element. Raises ValueError for a
/// negative number of times and an array without axes, AxisError.
IRUKA_API Array diff(const Array& x, int64_t times = 1, int64_t axis = -1, const Array* prepend = nullptr,
                     const Array* append = nullptr);
/// The differences of the flattened array's neighbours in x's dtype, between `to_begin` and `to_end`. Raises TypeError
/// where these cannot be cast by the rule 'same_kind'.
IRUKA_API Array ediff1d(const Array& x, const Array* to_end = nullptr, const Array* to_begin = nullptr);

/// x with multiples of `period` added so that no step along an axis is larger than max(jump, period / 2); `jump` is
/// half a period by default. Integers stay integers where the period is one. Raises AxisError, and ValueError for an
/// array without axes.
IRUKA_API Array unwrap(const Array& x, const std::optional<Scalar>& jump = {}, int64_t axis = -1,
                       const Scalar& period = 2 * std::numbers::pi);

/// Distances along an axis: one for all neighbours, or the coordinates of the elements.
using Spacing = std::variant<Scalar, Array>;
/// Second-order central differences inside, first or second order (`edge_order`) at the ends: an array of f's shape for
/// each axis, of floats. `spacings` is empty (1), one number, or one entry for each axis. Raises ValueError for an axis
/// of fewer than edge_order + 1 elements and for coordinates that are not as many as the elements, TypeError for a
/// wrong number of spacings and for bools, AxisError.
IRUKA_API std::vector<Array> gradient(const Array& f, std::span<const Spacing> spacings = {},
                                      const std::optional<Dims>& axes = {}, int edge_order = 1);

/// The integral of y along an axis by the trapezoidal rule; neighbours are `distance` apart, a number or an array that
/// broadcasts against the intervals. Integers count as floats. Raises AxisError.
IRUKA_API Array trapezoid(const Array& y, int64_t axis = -1, const Argument& distance = 1.0);
/// The same integral, with y's elements at the points x: a vector, or an array with y's axes. Raises ValueError for x
/// without axes.
IRUKA_API Array trapezoid(const Array& y, const Array& x, int64_t axis = -1);

/// Which part of a convolution of N and M elements is returned: N + M - 1 elements, max(N, M) in the middle, or the
/// max(N, M) - min(N, M) + 1 for which both overlap completely.
enum class ConvolutionMode : uint8_t { full, same, valid };
/// Raises ValueError for a name that is no mode.
IRUKA_API ConvolutionMode parse_convolution_mode(const std::string& name);
/// Sum over m of a[m] v[n - m], term by term. Raises ValueError for an empty array or more than one axis.
IRUKA_API Array convolve(const Array& a, const Array& v, ConvolutionMode mode = ConvolutionMode::full);
/// Sum over n of a[n + k] conj(v[n]). Raises ValueError for an empty array or another number of axes than one.
IRUKA_API Array correlate(const Array& a, const Array& v, ConvolutionMode mode = ConvolutionMode::valid);

}  // namespace iruka
