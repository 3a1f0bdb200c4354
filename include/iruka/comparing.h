// Whether arrays are equal, or nearly so. Each function waits for the device.
#pragma once

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka {

/// Whether |a - b| <= absolute + relative * |b| for every element; both broadcast. NaNs are close to each other where
/// `equal_nan` says so. Raises ShapeError.
IRUKA_API bool allclose(const Argument& a, const Argument& b, const Argument& relative = 1e-5,
                        const Argument& absolute = 1e-8, bool equal_nan = false);
/// Whether both have one shape and equal elements; NaNs are equal where `equal_nan` says so.
IRUKA_API bool array_equal(const Array& a, const Array& b, bool equal_nan = false);
/// Whether both broadcast to one shape and have equal elements there.
IRUKA_API bool array_equiv(const Array& a, const Array& b);
/// A view of the real part where every imaginary part is below the tolerance, else x: over 1 a number of the dtype's
/// precisions, else an absolute size.
IRUKA_API Array real_if_close(const Array& x, double tolerance = 100);

}  // namespace iruka
