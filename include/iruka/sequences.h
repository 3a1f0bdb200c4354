// Evenly spaced values between arrays, and windows.
#pragma once

#include <optional>

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka {

/// linspace() between arrays and numbers, which broadcast: `count` values along a new axis `axis`. Raises ValueError
/// for a negative count, ShapeError, AxisError.
IRUKA_API Array linspace(const Argument& start, const Argument& stop, int64_t count = 50, bool endpoint = true,
                         std::optional<Dtype> dtype = {}, int64_t axis = 0);
/// base ** linspace(start, stop): evenly spaced on a logarithmic scale.
IRUKA_API Array logspace(const Argument& start, const Argument& stop, int64_t count = 50, bool endpoint = true,
                         const Argument& base = 10.0, std::optional<Dtype> dtype = {}, int64_t axis = 0);
/// Values from start to stop, each the same multiple of the one before. Raises ValueError where start or stop is 0.
IRUKA_API Array geomspace(const Array& start, const Array& stop, int64_t count = 50, bool endpoint = true,
                          std::optional<Dtype> dtype = {}, int64_t axis = 0);

/// Windows of so many points, float64 (Harris, "On the use of windows for harmonic analysis with the discrete Fourier
/// transform", 1978): the triangle, raised cosines with 0 and 0.08 at the ends, three cosine terms, and Kaiser's from
/// the modified Bessel function of order 0. Of fewer than one point: empty.
IRUKA_API Array bartlett(double points);
IRUKA_API Array hanning(double points);
IRUKA_API Array hamming(double points);
IRUKA_API Array blackman(double points);
IRUKA_API Array kaiser(double points, double beta);

}  // namespace iruka
