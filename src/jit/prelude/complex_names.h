// The complex numbers of CUDA's cuComplex.h.
#pragma once

#include "complex.h"

using cuFloatComplex = complex<float>;
using cuDoubleComplex = complex<double>;
using cuComplex = cuFloatComplex;

#define IRUKA_COMPLEX_NAMES(type, part, f)                                  \
  IRUKA_INLINE part cuCreal##f(type z) { return z.real(); }                 \
  IRUKA_INLINE part cuCimag##f(type z) { return z.imag(); }                 \
  IRUKA_INLINE type cuConj##f(type z) { return {z.real(), -z.imag()}; }     \
  IRUKA_INLINE type cuCadd##f(type a, type b) { return a + b; }             \
  IRUKA_INLINE type cuCsub##f(type a, type b) { return a - b; }             \
  IRUKA_INLINE type cuCmul##f(type a, type b) { return a * b; }             \
  IRUKA_INLINE type cuCdiv##f(type a, type b) { return a / b; }             \
  IRUKA_INLINE type cuCfma##f(type a, type b, type c) { return a * b + c; } \
  IRUKA_INLINE part cuCabs##f(type z) { return abs(z); }
IRUKA_COMPLEX_NAMES(cuFloatComplex, float, f)
IRUKA_COMPLEX_NAMES(cuDoubleComplex, double, )
#undef IRUKA_COMPLEX_NAMES

IRUKA_INLINE cuFloatComplex make_cuFloatComplex(float real, float imag) { return {real, imag}; }
IRUKA_INLINE cuDoubleComplex make_cuDoubleComplex(double real, double imag) { return {real, imag}; }
IRUKA_INLINE cuComplex make_cuComplex(float real, float imag) { return {real, imag}; }
IRUKA_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.real(), z.imag()}; }
IRUKA_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return {(float)z.real(), (float)z.imag()}; }
