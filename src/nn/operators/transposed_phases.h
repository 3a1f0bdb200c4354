// Transposed convolutions by a library that has the others alone.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nn/operators/library_convolution.h"

namespace iruka::nn {

/// The part of a kernel that a phase sees, as weights of a convolution, and what the library makes of them.
struct PhaseWeights {
  Array factors;
  PreparedWeights prepared;
};
/// What a node keeps of its constant weights: by the taps of a phase, first, step and count along each axis, and the
/// dtype.
using PreparedPhases = CallCache<std::vector<int64_t>, std::shared_ptr<PhaseWeights>>;

/// A transposed convolution of stride s is s interleaved convolutions along each axis: those places of the result whose
/// remainders modulo s are the same see the same part of the kernel. `window` is what transposed_window_of() gives, and
/// weights are (channels, outputs / groups, ...). Nothing where the library has nothing for it, or on a GPU. `prepared`
/// belongs to the weights, or is null.
std::optional<Array> convolved_by_phases(const Window& window, const Array& x, const Array& weights, int64_t groups,
                                         const Array& bias, PreparedPhases* prepared = nullptr);

}  // namespace iruka::nn
