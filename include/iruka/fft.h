// Discrete Fourier transforms of any length along one axis or several.
#pragma once

#include <optional>

#include "iruka/array.h"

namespace iruka::fft {

enum class Kind : uint8_t { complex, real_to_complex, complex_to_real };

/// Transform along `axis`, in complex64 for float32, float16, bfloat16 and complex64, else complex128; results times
/// `scale`. `length` is that of the signal (for complex_to_real of the result): the input is cut, or continued with
/// zeros. `forward`: exp(-2 pi i jk / length), for complex only. Raises ValueError for a length below 1, AxisError, and
/// TypeError for a complex input of real_to_complex.
IRUKA_API Array transform(const Array& x, Kind kind, int64_t length, int64_t axis, bool forward = true,
                          double scale = 1);

/// The same along several axes, from the last to the first. A real kind is real along the last axis only; the
/// transforms along the others are complex. Also raises ValueError if there is no axis or not one length for each axis.
IRUKA_API Array transform(const Array& x, Kind kind, const Dims& lengths, const Dims& axes, bool forward = true,
                          double scale = 1);

/// Frequencies of a transform's n elements in cycles per unit of the spacing, float64: 0, 1, ..., -2, -1 over n times
/// the spacing; rfftfreq: 0, 1, ..., n / 2. Raise ValueError for n below 1.
IRUKA_API Array fftfreq(int64_t n, double spacing = 1);
IRUKA_API Array rfftfreq(int64_t n, double spacing = 1);
/// A copy with the zero frequency in the middle of the axes (all axes if none are given); ifftshift moves it back.
/// Raise AxisError, and ValueError where one axis is named twice.
IRUKA_API Array fftshift(const Array& x, const std::optional<Dims>& axes = {});
IRUKA_API Array ifftshift(const Array& x, const std::optional<Dims>& axes = {});

}  // namespace iruka::fft
