// The functions that convolutions apply to their results.
#pragma once

#include <cstdint>

namespace iruka {

/// Of x and two numbers a and b. NaNs stay NaNs.
enum class ConvolutionFunction : uint8_t {
  none,
  relu,          ///< 0 for negative x
  clip,          ///< at least a, at most b
  leaky_relu,    ///< a x for negative x
  hard_sigmoid,  ///< a x + b, at least 0, at most 1
  hard_swish,    ///< x times x / 6 + 0.5, which is at least 0 and at most 1
};

}  // namespace iruka
