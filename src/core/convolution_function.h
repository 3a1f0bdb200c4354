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
  // Those of jit/kernels/activations.h, of the same bits.
  torch_hard_swish,  ///< x times x + 3, which is at least 0 and at most 6, over 6
  tanh,
  sigmoid,    ///< 1 / (1 + exp(-x))
  silu,       ///< x sigmoid(x)
  gelu,       ///< x times the normal distribution's integral up to x
  gelu_tanh,  ///< the same by tanh
  elu,        ///< a (exp(x) - 1) for x that is not positive
  softplus,   ///< log(1 + exp(a x)) / a, and x where a x is larger than b
};

/// Whether it takes many times as long as a sum, so that it runs over results in memory.
constexpr bool is_costly(ConvolutionFunction function) { return function > ConvolutionFunction::hard_swish; }

}  // namespace iruka
