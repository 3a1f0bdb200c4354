// The numbers of CUDA's cuda_fp16.h and cuda_bf16.h as those of the prelude, with their functions of one number.
// Arithmetic is in float; every result is rounded once.
#pragma once

#include "functions.h"

using half = float16;
using __half = float16;
using nv_bfloat16 = bfloat16;
using __nv_bfloat16 = bfloat16;

#define IRUKA_NAMES_OF_16_BITS(type, long_name, short_name)                                        \
  IRUKA_INLINE type __float2##short_name(float x) { return x; }                                    \
  IRUKA_INLINE type __float2##short_name##_rn(float x) { return x; }                               \
  IRUKA_INLINE type __double2##short_name(double x) { return x; }                                  \
  IRUKA_INLINE float __##short_name##2float(type x) { return x; }                                  \
  IRUKA_INLINE type __int2##short_name##_rn(int x) { return x; }                                   \
  IRUKA_INLINE type __uint2##short_name##_rn(unsigned x) { return x; }                             \
  IRUKA_INLINE type __ll2##short_name##_rn(long long x) { return x; }                              \
  IRUKA_INLINE type __ull2##short_name##_rn(unsigned long long x) { return x; }                    \
  IRUKA_INLINE int __##short_name##2int_rz(type x) { return (int)(float)x; }                       \
  IRUKA_INLINE int __##short_name##2int_rn(type x) { return __float2int_rn(x); }                   \
  IRUKA_INLINE type __ushort_as_##long_name(unsigned short bits) { return type::from_bits(bits); } \
  IRUKA_INLINE unsigned short __##long_name##_as_ushort(type x) { return x.bits_; }                \
  IRUKA_INLINE type __hadd(type a, type b) { return a + b; }                                       \
  IRUKA_INLINE type __hsub(type a, type b) { return a - b; }                                       \
  IRUKA_INLINE type __hmul(type a, type b) { return a * b; }                                       \
  IRUKA_INLINE type __hdiv(type a, type b) { return a / b; }                                       \
  IRUKA_INLINE type __hfma(type a, type b, type c) { return iruka::fused_multiply_add(a, b, c); }  \
  IRUKA_INLINE type __hneg(type a) { return -a; }                                                  \
  IRUKA_INLINE type __habs(type a) { return type::from_bits((uint16_t)(a.bits_ & 0x7fffu)); }      \
  IRUKA_INLINE bool __heq(type a, type b) { return (float)a == (float)b; }                         \
  IRUKA_INLINE bool __hne(type a, type b) { return (float)a < (float)b || (float)a > (float)b; }   \
  IRUKA_INLINE bool __hlt(type a, type b) { return (float)a < (float)b; }                          \
  IRUKA_INLINE bool __hle(type a, type b) { return (float)a <= (float)b; }                         \
  IRUKA_INLINE bool __hgt(type a, type b) { return (float)a > (float)b; }                          \
  IRUKA_INLINE bool __hge(type a, type b) { return (float)a >= (float)b; }                         \
  IRUKA_INLINE bool __hisnan(type a) { return isnan((float)a); }                                   \
  IRUKA_INLINE int __hisinf(type a) { return isinf((float)a) ? ((float)a > 0 ? 1 : -1) : 0; }      \
  IRUKA_INLINE type __hmin(type a, type b) { return fminf(a, b); }                                 \
  IRUKA_INLINE type __hmax(type a, type b) { return fmaxf(a, b); }                                 \
  IRUKA_INLINE type hsqrt(type a) { return sqrtf(a); }                                             \
  IRUKA_INLINE type hrsqrt(type a) { return rsqrtf(a); }                                           \
  IRUKA_INLINE type hrcp(type a) { return 1.0f / (float)a; }                                       \
  IRUKA_INLINE type hexp(type a) { return expf(a); }                                               \
  IRUKA_INLINE type hexp2(type a) { return exp2f(a); }                                             \
  IRUKA_INLINE type hlog(type a) { return logf(a); }                                               \
  IRUKA_INLINE type hlog2(type a) { return log2f(a); }                                             \
  IRUKA_INLINE type hlog10(type a) { return log10f(a); }                                           \
  IRUKA_INLINE type hsin(type a) { return sinf(a); }                                               \
  IRUKA_INLINE type hcos(type a) { return cosf(a); }                                               \
  IRUKA_INLINE type hfloor(type a) { return floorf(a); }                                           \
  IRUKA_INLINE type hceil(type a) { return ceilf(a); }                                             \
  IRUKA_INLINE type htrunc(type a) { return truncf(a); }                                           \
  IRUKA_INLINE type hrint(type a) { return rintf(a); }

IRUKA_NAMES_OF_16_BITS(float16, half, half)
IRUKA_NAMES_OF_16_BITS(bfloat16, bfloat16, bfloat16)
#undef IRUKA_NAMES_OF_16_BITS
