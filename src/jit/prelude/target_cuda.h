// CUDA target, for NVRTC without CUDA's headers. NVRTC knows the qualifiers, the math API and the intrinsics; this
// header defines the rest of C and of the CPU target.
#pragma once

// Allows narrowing, because bodies write `int idx[] = {i / width, i % width};` with a ptrdiff_t i.
#pragma nv_diag_suppress 2361

#define IRUKA_INLINE __forceinline__

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
static_assert(sizeof(long) == 8, "the kernel language's int64_t is long, as on the CPU");

namespace iruka {

// NVRTC has no literals for these. They are templates, because other variables would be in every kernel's global
// memory.
template <class T> inline constexpr T kInfinity = T(1) / T(0);
template <class T> inline constexpr T kNan = -(T(0) / T(0));

/// IEEE binary16 by the GPU's conversions, rounded to nearest even.
IRUKA_INLINE float half_to_float(uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
IRUKA_INLINE uint16_t float_to_half(float x) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

/// Stores a word to global memory. Inline assembly, because the compiler splits vectors into single stores.
template <class Word> IRUKA_INLINE void store_word(Word* to, Word word) { *to = word; }
IRUKA_INLINE void store_word(uint2* to, uint2 word) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "r"(word.x), "r"(word.y)
               : "memory");
}
IRUKA_INLINE void store_word(uint4* to, uint4 word) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(word.x), "r"(word.y),
               "r"(word.z), "r"(word.w)
               : "memory");
}

/// Stores and loads of words that blocks exchange while they run; they bypass the first-level cache. PTX does not
/// guarantee it, but GPUs since sm_70 move 16 aligned bytes at once, so a word is read whole or not at all.
IRUKA_INLINE void publish_word(uint4* to, uint4 word) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(word.x),
               "r"(word.y), "r"(word.z), "r"(word.w)
               : "memory");
}
IRUKA_INLINE uint4 published_word(const uint4* from) {
  uint4 word;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return word;
}

/// The counter that the driver gives a cooperative launch, the second word of its workspace; null for other launches.
IRUKA_INLINE unsigned* grid_counter() {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  const unsigned long long workspace = (unsigned long long)high << 32 | low;
  return workspace ? (unsigned*)workspace + 1 : nullptr;
}

/// The lanes of a complete warp that have the same value of `bit` in `digit`. Inline assembly, because the compiler
/// tests the bit twice.
IRUKA_INLINE unsigned agreeing_lanes(unsigned digit, unsigned bit) {
  unsigned lanes;
  asm volatile(
      "{ .reg .pred p;\n and.b32 %0, %1, %2;\n setp.ne.u32 p, %0, 0;\n vote.sync.ballot.b32 %0, p, 0xffffffff;\n"
      " @!p not.b32 %0, %0;\n}"
      : "=r"(lanes)
      : "r"(digit), "r"(bit));
  return lanes;
}

}  // namespace iruka

#define NAN iruka::kNan<float>
#define INFINITY iruka::kInfinity<float>

#include "constants.h"
#include "cuda_assertions.h"
#include "types.h"
#include "cuda_atomics.h"

namespace iruka {

/// Whether a power is computed as a product of `n` factors; NVRTC calls its built-in function as it is.
template <class B> IRUKA_INLINE bool is_product(B y, int n) {
  if constexpr (Integer<B>)
    return y == (B)n;
  else
    return false;
}

}  // namespace iruka

template <iruka::Integer B> IRUKA_INLINE float powf(float x, B y) {
  return iruka::is_product(y, 2) ? x * x : iruka::is_product(y, 3) ? x * x * x : powf(x, (float)y);
}
// The built-in function takes double alone.
IRUKA_INLINE float rhypot(float x, float y) { return rhypotf(x, y); }
