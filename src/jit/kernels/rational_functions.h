// Functions of float32 for layers. tanh and erf are x P(x²) / Q(x²), whose coefficients have the least relative error
// for these degrees: least squares, weighted anew by each error (Lawson). With rounding the error is below 4e-7. The
// math library's functions have a third of it and take four times as long.
#pragma once

namespace iruka::nn {

template <class F> IRUKA_INLINE F between(F x, F limit) { return x > limit ? limit : x < -limit ? -limit : x; }
/// y, which may be rounded beyond ±1, but ±1 where x is beyond the limit. NaN stays NaN.
template <class F> IRUKA_INLINE F saturated(F x, F limit, F y) {
  return x > limit ? F(1) : x < -limit ? F(-1) : between(y, F(1));
}

// F is float or a vector of floats.
template <class F> IRUKA_INLINE F rational_tanh(F x) {
  const F limit = F(9), inner = between(x, limit), u = inner * inner;
  const F p = (((F(1.33531941e-08) * u + F(2.06080422e-05)) * u + F(0.00349552673)) * u + F(0.133809745)) * u + F(1);
  const F q = (((F(7.77596142e-07) * u + F(0.000328553288)) * u + F(0.0258767512)) * u + F(0.46714291)) * u + F(1);
  return saturated(x, limit, inner * p / q);
}
template <class F> IRUKA_INLINE F rational_erf(F x) {
  const F limit = F(3.92), inner = between(x, limit), u = inner * inner;
  const F p = ((((F(2.05004653e-06) * u + F(0.000284860493)) * u + F(0.00376506313)) * u + F(0.0527469665)) * u +
               F(0.190394953)) *
                  u +
              F(1.12837911);
  const F q =
      ((((F(3.80901329e-05) * u + F(0.00116238324)) * u + F(0.0149681102)) * u + F(0.114104144)) * u + F(0.502065897)) *
          u +
      F(1);
  return saturated(x, limit, inner * p / q);
}
/// exp(x) - 1, and 0 above zero: 2 t / (1 - t), t = tanh(x / 2), where nothing cancels.
template <class F> IRUKA_INLINE F rational_expm1_below_zero(F x) {
  const F t = rational_tanh((x > F(0) ? F(0) : x) * F(0.5));
  return (t + t) / (F(1) - t);
}

/// log(1 + exp(x)) = max(x, 0) + log(1 + e), e = exp(-|x|); log(1 + e) = 2 atanh(e / (2 + e)), by a polynomial.
template <class F> IRUKA_INLINE F rational_softplus(F x) {
  const F e = exp(x > F(0) ? -x : x), s = e / (F(2) + e), u = s * s;
  const F p = (((F(0.281777352) * u + F(0.279607534)) * u + F(0.400248975)) * u + F(0.66666317)) * u + F(2);
  return (x > F(0) ? x : F(0)) + s * p;
}
template <class F> IRUKA_INLINE F exact_softplus(F x) { return (x > F(0) ? x : F(0)) + log1p(exp(x > F(0) ? -x : x)); }

// A GPU has instructions for exponentials, by which its own functions are faster.
#ifdef __CUDA_ARCH__
IRUKA_INLINE float layer_tanh(float x) { return tanh(x); }
IRUKA_INLINE float layer_erf(float x) { return erf(x); }
IRUKA_INLINE float layer_expm1_below_zero(float x) { return expm1(x); }
IRUKA_INLINE float layer_softplus(float x) { return exact_softplus(x); }
#else
IRUKA_INLINE float layer_tanh(float x) { return rational_tanh(x); }
IRUKA_INLINE float layer_erf(float x) { return rational_erf(x); }
IRUKA_INLINE float layer_expm1_below_zero(float x) { return rational_expm1_below_zero(x); }
IRUKA_INLINE float layer_softplus(float x) { return rational_softplus(x); }
#endif
IRUKA_INLINE double layer_tanh(double x) { return tanh(x); }
IRUKA_INLINE double layer_erf(double x) { return erf(x); }
IRUKA_INLINE double layer_expm1_below_zero(double x) { return expm1(x); }
IRUKA_INLINE double layer_softplus(double x) { return exact_softplus(x); }

}  // namespace iruka::nn
