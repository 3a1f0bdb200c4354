// CPU target: CUDA's qualifiers, C's integer types and limits.
#pragma once

// CUDA's compilers only warn of it, and bodies write `int idx[] = {i / width, i % width};` with i a ptrdiff_t.
#pragma clang diagnostic ignored "-Wc++11-narrowing"

#define __device__
#define __host__
#define __global__
#define __constant__ const
#define __shared__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define IRUKA_INLINE inline __attribute__((always_inline))

#define __syncthreads() ((void)0)
#define __syncwarp(...) ((void)0)
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define assert(...) ((void)0)

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1u)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-__LONG_MAX__ - 1L)
#define ULONG_MAX (__LONG_MAX__ * 2ul + 1ul)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1LL)
#define ULLONG_MAX (__LONG_LONG_MAX__ * 2ull + 1ull)
#define INT8_MAX SCHAR_MAX
#define INT8_MIN SCHAR_MIN
#define UINT8_MAX UCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT16_MIN SHRT_MIN
#define UINT16_MAX USHRT_MAX
#define INT32_MAX INT_MAX
#define INT32_MIN INT_MIN
#define UINT32_MAX UINT_MAX
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
#define UINT64_MAX ULONG_MAX
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__

IRUKA_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
IRUKA_INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
IRUKA_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
IRUKA_INLINE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
IRUKA_INLINE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
IRUKA_INLINE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
IRUKA_INLINE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
IRUKA_INLINE int __double2loint(double x) { return (int)__double_as_longlong(x); }
IRUKA_INLINE double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

namespace iruka {

/// CUDA's own headers overload exp(int) and the like; here functions.h does.
inline constexpr bool kMathTakesIntegers = false;

/// IEEE binary16 by the hardware's conversions, round to nearest even.
IRUKA_INLINE float half_to_float(uint16_t bits) { return (float)__builtin_bit_cast(_Float16, bits); }
IRUKA_INLINE uint16_t float_to_half(float x) { return __builtin_bit_cast(uint16_t, (_Float16)x); }

}  // namespace iruka

#include "types.h"
#include "cpu_math.h"
#include "cpu_atomics.h"
