// The activations of kernels (jit/kernels/activations.h) for vectors, by the formulas and SLEEF's functions that
// kernels have: so loops and kernels give the same bits. For files that Clang compiles, each for one size of vectors.
#pragma once

#include <cmath>

#include "backend/cpu/window_job.h"

namespace iruka::nn {
namespace {

/// A vector that takes part in the formulas as a number does.
template <class T>
using MathVector = T __attribute__((ext_vector_type(IRUKA_WINDOW_BYTES / sizeof(T))));

constinit void* single_exp = nullptr;
constinit cpu_backend::VectorMath double_math{};

inline MathVector<float> exp(MathVector<float> x) {
  return reinterpret_cast<MathVector<float> (*)(MathVector<float>)>(single_exp)(x);
}
#define IRUKA_WINDOW_MATH(name)                                                               \
  inline MathVector<double> name(MathVector<double> x) {                                      \
    return reinterpret_cast<MathVector<double> (*)(MathVector<double>)>(double_math.name)(x); \
  }
IRUKA_WINDOW_MATH(exp)
IRUKA_WINDOW_MATH(expm1)
IRUKA_WINDOW_MATH(log1p)
IRUKA_WINDOW_MATH(tanh)
IRUKA_WINDOW_MATH(erf)
#undef IRUKA_WINDOW_MATH

using std::erf, std::exp, std::expm1, std::log1p, std::tanh;

}  // namespace
}  // namespace iruka::nn

#define IRUKA_INLINE inline __attribute__((always_inline))
#include "jit/kernels/rational_functions.h"

namespace iruka::nn {
namespace {

inline MathVector<float> layer_tanh(MathVector<float> x) { return rational_tanh(x); }
inline MathVector<float> layer_erf(MathVector<float> x) { return rational_erf(x); }
inline MathVector<float> layer_expm1_below_zero(MathVector<float> x) { return rational_expm1_below_zero(x); }
inline MathVector<float> layer_softplus(MathVector<float> x) { return rational_softplus(x); }
inline MathVector<double> layer_tanh(MathVector<double> x) { return tanh(x); }
inline MathVector<double> layer_erf(MathVector<double> x) { return erf(x); }
inline MathVector<double> layer_expm1_below_zero(MathVector<double> x) { return expm1(x); }
inline MathVector<double> layer_softplus(MathVector<double> x) { return exact_softplus(x); }

}  // namespace
}  // namespace iruka::nn

#include "jit/kernels/activations.h"
#undef IRUKA_INLINE
