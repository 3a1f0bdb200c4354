// Functions of one number after a layer, by torch's formulas. A layer's parameters are the numbers that its functions
// take, as W points to them: a slope, or one slope for each channel. NaN stays NaN.
#pragma once

#include "jit/kernels/rational_functions.h"

namespace iruka::nn {

struct Identity {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W, int) { return x; }
};
template <class F> IRUKA_INLINE F not_below_zero(F x) { return x < F(0) ? F(0) : x; }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
IRUKA_INLINE float not_below_zero(float x) {  // one instruction that keeps NaN
  float larger;
  asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(larger) : "f"(x));
  return larger;
}
#endif
struct Relu {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W, int) { return not_below_zero(x); }
};
/// Also PReLU with one slope.
struct LeakyRelu {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W slope, int) { return x > F(0) ? x : *slope * x; }
};
struct Prelu {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W slopes, int channel) {
    return x > F(0) ? x : slopes[channel] * x;
  }
};
struct Gelu {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W, int) {
    return F(0.5) * x * (F(1) + layer_erf(x * F(0.70710678118654752)));
  }
};
struct GeluTanh {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W, int) {
    return F(0.5) * x * (F(1) + layer_tanh(F(0.79788456080286536) * (x + F(0.044715) * x * x * x)));
  }
};
struct Sigmoid {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W, int) { return F(1) / (F(1) + exp(-x)); }
};
struct Silu {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W, int) { return x / (F(1) + exp(-x)); }
};
struct Tanh {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W, int) { return layer_tanh(x); }
};
/// Parameters: beta, threshold.
struct Softplus {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W parameters, int) {
    const F scaled = x * parameters[0];
    return scaled > parameters[1] ? x : layer_softplus(scaled) / parameters[0];
  }
};
struct Elu {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W alpha, int) {
    return x > F(0) ? x : *alpha * layer_expm1_below_zero(x);
  }
};
struct Hardswish {
  template <class F, class W> static IRUKA_INLINE F apply(F x, W, int) {
    const F raised = x + F(3) < F(0) ? F(0) : x + F(3);
    return x * (raised > F(6) ? F(6) : raised) / F(6);
  }
};

}  // namespace iruka::nn
