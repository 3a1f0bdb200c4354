// CPU target: CUDA's qualifiers, C's integer types and limits.
#pragma once

// CUDA's compilers only warn about narrowing, and bodies write `int idx[] = {i / width, i % width};` with a ptrdiff_t
// i.
#pragma clang diagnostic ignored "-Wc++11-narrowing"

#define __device__
#define __host__
#define __global__
#define __constant__ const
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define IRUKA_INLINE inline __attribute__((always_inline))

// The CPU has no blocks of threads, so these would compile and give wrong results.
// clang-format off: it would split the pragmas' literals
#define __shared__ _Pragma("GCC error \"__shared__ memory is only for GPUs: on the CPU elements do not run in blocks; use raw arrays and atomics, or keep it under #ifdef __CUDA_ARCH__\"")
#define __syncthreads() _Pragma("GCC error \"__syncthreads() is only for GPUs: on the CPU elements do not run in blocks; keep it under #ifdef __CUDA_ARCH__\"")
// clang-format on
#define __syncwarp(...) ((void)0)
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
// The kernel's call raises the recorded failure. The element function declares a variable iruka_element_index; outside
// of it the element is unknown.
extern "C" __attribute__((cold)) void iruka_note_failed_assertion(const char* condition, const char* file, int line,
                                                                  long long element) noexcept;
constexpr long long iruka_element_index = -1;
#define assert(...) \
  ((__VA_ARGS__) ? (void)0 : iruka_note_failed_assertion(#__VA_ARGS__, __FILE__, __LINE__, iruka_element_index))

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
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;

#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()

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

/// IEEE binary16 by the processor's conversions, rounded to nearest even.
IRUKA_INLINE float half_to_float(uint16_t bits) { return (float)__builtin_bit_cast(_Float16, bits); }
IRUKA_INLINE uint16_t float_to_half(float x) { return __builtin_bit_cast(uint16_t, (_Float16)x); }

}  // namespace iruka

#include "constants.h"
namespace iruka {

/// Whether a power is computed as a product of `n` factors. pow() itself does that here.
template <class B> IRUKA_INLINE constexpr bool is_product(B, int) { return false; }

}  // namespace iruka

#include "types.h"
#include "cpu_math.h"
#include "cpu_intrinsics.h"
#include "cpu_atomics.h"
