// Whether arrays are equal, or nearly so. Each function waits for the device.
#pragma once

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka {

/// Whether |a - b| <= absolute + relative * |b| for every element; both broadcast. With `equal_nan`, NaNs are close to
/// each other. Raises ShapeError.
IRUKA_API bool allclose(const Argument& a, const Argument& b, const Argument& relative = 1e-5,
                        const Argument& absolute = 1e-8, bool equal_nan = false);
/// Whether both have the same shape and equal elements. With `equal_nan`, NaNs are equal.
IRUKA_API bool array_equal(const Array& a, const Array& b, bool equal_nan = false);
/// Whether both broadcast to a common shape and have equal elements in it.
IRUKA_API bool array_equiv(const Array& a, const Array& b);
/// A view of the real part if every imaginary part is below the tolerance, else x. A tolerance over 1 is a multiple of
/// the dtype's epsilon; any other is absolute.
IRUKA_API Array real_if_close(const Array& x, double tolerance = 100);

}  // namespace iruka
