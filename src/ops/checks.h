// Checks of arguments that functions share.
#pragma once

#include <optional>
#include <string>

#include "iruka/array.h"

namespace iruka::ops {

/// Raises ValueError if `given`, called `what` in the message, is not on `device`: arrays never move implicitly.
void check_device(const char* what, const Array& given, const Device& device);

/// An `out` must be on the result's device, be writable and have the result's shape. Raises ValueError or ShapeError.
void check_out(const std::string& function, const Array& out, const Dims& shape, const Device& device);

/// Raises TypeError unless elements of `from` may be cast to `to` by the rule.
void check_cast(Dtype from, Dtype to, Casting rule = Casting::safe);

/// The axes, 0 <= axis < ndim. Raises AxisError, and ValueError where one is named twice.
Dims normalize_axes(const char* function, const Dims& axes, int ndim);
/// The same; all axes if none are named.
Dims axes_or_all(const char* function, const std::optional<Dims>& axes, int ndim);

/// Raises ValueError, in NumPy's words, unless x has one axis.
void check_one_axis(const Array& x);

}  // namespace iruka::ops
