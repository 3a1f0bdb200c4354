// Transposed convolutions by a library that has the others alone.
#pragma once

#include <optional>

#include "nn/operators/library_convolution.h"

namespace iruka::nn {

/// A transposed convolution of stride s is s interleaved convolutions along each axis: those places of the result whose
/// remainders modulo s are the same see the same part of the kernel. `window` is what transposed_window_of() gives, and
/// weights are (channels, outputs / groups, ...). Nothing where the library has nothing for it, or on a GPU.
std::optional<Array> convolved_by_phases(const Window& window, const Array& x, const Array& weights, int64_t groups,
                                         const Array& bias);

}  // namespace iruka::nn
