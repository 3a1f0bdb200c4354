// One name for each instruction of AVX-512 and AVX2, so that a body is written by hand once. Compiled for each.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace {

#ifdef __AVX512F__
constexpr int kLanes = 16;
using Float = __m512;
using Int = __m512i;
using Mask = __mmask16;
inline Float all(float x) { return _mm512_set1_ps(x); }
inline Int all(int x) { return _mm512_set1_epi32(x); }
inline Float load(const float* from) { return _mm512_loadu_ps(from); }
inline void store(float* to, Float x) { _mm512_storeu_ps(to, x); }
inline void store(int32_t* to, Int x) { _mm512_storeu_si512(to, x); }
inline Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
inline Float fms(Float a, Float b, Float c) { return _mm512_fmsub_ps(a, b, c); }
inline Float max(Float a, Float b) { return _mm512_max_ps(a, b); }
inline Float min(Float a, Float b) { return _mm512_min_ps(a, b); }
inline Mask less(Float a, Float b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
inline Mask same(Float a, Float b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
inline Float choose(Mask mask, Float yes, Float no) { return _mm512_mask_blend_ps(mask, no, yes); }
inline Int choose(Mask mask, Int yes, Int no) { return _mm512_mask_blend_epi32(mask, no, yes); }
inline Int count_where(Mask mask, Int count) { return _mm512_mask_add_epi32(count, mask, count, all(1)); }
inline bool any(Mask mask) { return mask != 0; }
inline Float counting() { return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
inline __m256 low(Float x) { return _mm512_castps512_ps256(x); }
inline __m256 high(Float x) { return _mm512_extractf32x8_ps(x, 1); }
inline Float joined(__m256 low, __m256 high) { return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1); }
#else
constexpr int kLanes = 8;
using Float = __m256;
using Int = __m256i;
using Mask = __m256;
inline Float all(float x) { return _mm256_set1_ps(x); }
inline Int all(int x) { return _mm256_set1_epi32(x); }
inline Float load(const float* from) { return _mm256_loadu_ps(from); }
inline void store(float* to, Float x) { _mm256_storeu_ps(to, x); }
inline void store(int32_t* to, Int x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
inline Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
inline Float fms(Float a, Float b, Float c) { return _mm256_fmsub_ps(a, b, c); }
inline Float max(Float a, Float b) { return _mm256_max_ps(a, b); }
inline Float min(Float a, Float b) { return _mm256_min_ps(a, b); }
inline Mask less(Float a, Float b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
inline Mask same(Float a, Float b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
inline Float choose(Mask mask, Float yes, Float no) { return _mm256_blendv_ps(no, yes, mask); }
inline Int choose(Mask mask, Int yes, Int no) { return _mm256_blendv_epi8(no, yes, _mm256_castps_si256(mask)); }
inline Int count_where(Mask mask, Int count) { return _mm256_sub_epi32(count, _mm256_castps_si256(mask)); }
inline bool any(Mask mask) { return _mm256_movemask_ps(mask) != 0; }
inline Float counting() { return _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7); }
#endif

}  // namespace
