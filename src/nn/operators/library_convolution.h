// Convolutions by the device's library, where it has one.
#pragma once

#include <optional>

#include "core/convolutions.h"
#include "nn/operators/window.h"

namespace iruka::nn {

/// What a convolution's results go through: sums, and then zeros for negative ones.
struct Epilogue {
  Array bias{};      ///< a number for each output, or none
  Array residual{};  ///< an array of the result's shape, or none
  bool is_rectified = false;
};

/// The device's library of convolutions; null where the device has none, or it was not found.
Convolutions* find_convolutions(Device& device);

/// The convolution, or the transposed one, of a window that fits x and weights, in the precision of the calling thread.
/// Arrays of any layout. Nothing where the library is missing or has nothing for it.
std::optional<Array> convolved_by_library(const Window& window, bool is_transposed, const Array& x,
                                          const Array& weights, int64_t groups, const Epilogue& epilogue = {});

/// The same of a call of Conv. Raises ValueError for attributes and shapes that do not fit each other.
std::optional<Array> convolved_by_library(const Call& call, const Epilogue& epilogue);

}  // namespace iruka::nn
