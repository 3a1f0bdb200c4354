// What the hand-written functions share, beside vector.h: integers, bytes, gathers and rows of results.
#pragma once

#include <cmath>
#include <cstring>

#include "threads.h"
#include "vector.h"

namespace {

using Ints = int32_t __attribute__((vector_size(4 * kLanes)));
using Words = uint32_t __attribute__((vector_size(4 * kLanes)));
constexpr int kBytes = 4 * kLanes;
using Bytes = uint8_t __attribute__((vector_size(kBytes)));

inline Ints ints(int x) { return x - Ints{}; }
inline Bytes bytes(int x) { return static_cast<uint8_t>(x) - Bytes{}; }
inline Float floats(Ints x) { return __builtin_convertvector(x, Float); }

template <class Vector, class T> Vector load_as(const T* from) {
  Vector found;
  std::memcpy(&found, from, sizeof found);
  return found;
}
template <class T, class Vector> void store_as(T* to, Vector x) { std::memcpy(to, &x, sizeof x); }

#ifdef __AVX512F__
inline Float gather(const float* from, Ints at) { return _mm512_i32gather_ps(reinterpret_cast<__m512i>(at), from, 4); }
inline Float gather(const float* from, Ints at, Ints where) {
  const __mmask16 mask = _mm512_movepi32_mask(reinterpret_cast<__m512i>(where));
  return _mm512_mask_i32gather_ps(all(0.0f), mask, reinterpret_cast<__m512i>(at), from, 4);
}
inline Ints gather(const int32_t* from, Ints at) {
  return reinterpret_cast<Ints>(_mm512_i32gather_epi32(reinterpret_cast<__m512i>(at), from, 4));
}
inline Float permuted(Float x, Ints at) { return _mm512_permutexvar_ps(reinterpret_cast<__m512i>(at), x); }
inline Float floor(Float x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
inline Float rounded(Float x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline void stream(void* to, Float x) { _mm512_stream_ps(static_cast<float*>(to), x); }
inline bool is_any(Ints where) { return _mm512_movepi32_mask(reinterpret_cast<__m512i>(where)) != 0; }
inline Bytes least(Bytes a, Bytes b) {
  return reinterpret_cast<Bytes>(_mm512_min_epu8(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
inline Bytes most(Bytes a, Bytes b) {
  return reinterpret_cast<Bytes>(_mm512_max_epu8(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
/// A bit for each byte that is `x`.
inline uint64_t where_equal(Bytes a, Bytes b) {
  return _mm512_cmpeq_epi8_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
}
#else
inline Float gather(const float* from, Ints at) { return _mm256_i32gather_ps(from, reinterpret_cast<__m256i>(at), 4); }
inline Float gather(const float* from, Ints at, Ints where) {
  return _mm256_mask_i32gather_ps(all(0.0f), from, reinterpret_cast<__m256i>(at), reinterpret_cast<__m256>(where), 4);
}
inline Ints gather(const int32_t* from, Ints at) {
  return reinterpret_cast<Ints>(_mm256_i32gather_epi32(from, reinterpret_cast<__m256i>(at), 4));
}
inline Float permuted(Float x, Ints at) { return _mm256_permutevar8x32_ps(x, reinterpret_cast<__m256i>(at)); }
inline Float floor(Float x) { return _mm256_floor_ps(x); }
inline Float rounded(Float x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline void stream(void* to, Float x) { _mm256_stream_ps(static_cast<float*>(to), x); }
inline bool is_any(Ints where) { return _mm256_movemask_ps(reinterpret_cast<__m256>(where)) != 0; }
inline Bytes least(Bytes a, Bytes b) {
  return reinterpret_cast<Bytes>(_mm256_min_epu8(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
inline Bytes most(Bytes a, Bytes b) {
  return reinterpret_cast<Bytes>(_mm256_max_epu8(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
inline uint64_t where_equal(Bytes a, Bytes b) {
  const __m256i equal = _mm256_cmpeq_epi8(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b));
  return static_cast<uint32_t>(_mm256_movemask_epi8(equal));
}
#endif

inline Ints counting_ints() {
  Ints found;
  for (int k = 0; k < kLanes; ++k) found[k] = k;
  return found;
}

/// to[x] for x from begin to end: one(x) computes one number, many(x) a vector of them, which is streamed to memory.
template <class One, class Many> void stream_row(float* to, int64_t begin, int64_t end, One&& one, Many&& many) {
  int64_t x = begin;
  for (; x < end && reinterpret_cast<uintptr_t>(to + x) % kBytes; ++x) to[x] = one(x);
  for (; x + kLanes <= end; x += kLanes) stream(to + x, many(x));
  for (; x < end; ++x) to[x] = one(x);
}

/// row(y) for each row, on several threads.
template <class Row> void in_rows(int64_t height, int64_t threads, Row&& row) {
  in_turns(height, threads, 16, [&](int64_t y, int64_t end) {
    for (; y < end; ++y) row(y);
  });
}

inline int64_t clamped(int64_t x, int64_t size) { return std::clamp<int64_t>(x, 0, size - 1); }

/// Eight rows of eight floats, `stride` apart, turned; 16 rows with AVX-512: to[k] holds number k of each row.
inline void turn_8x8(const __m256 row[8], __m256 to[8]) {
  __m256 pair[8], four[8];
  for (int k = 0; k < 4; ++k) {
    pair[2 * k] = _mm256_unpacklo_ps(row[2 * k], row[2 * k + 1]);
    pair[2 * k + 1] = _mm256_unpackhi_ps(row[2 * k], row[2 * k + 1]);
  }
  for (int k = 0; k < 8; k += 4) {
    four[k] = _mm256_shuffle_ps(pair[k], pair[k + 2], 0x44);
    four[k + 1] = _mm256_shuffle_ps(pair[k], pair[k + 2], 0xee);
    four[k + 2] = _mm256_shuffle_ps(pair[k + 1], pair[k + 3], 0x44);
    four[k + 3] = _mm256_shuffle_ps(pair[k + 1], pair[k + 3], 0xee);
  }
  for (int k = 0; k < 4; ++k) {
    to[k] = _mm256_permute2f128_ps(four[k], four[k + 4], 0x20);
    to[k + 4] = _mm256_permute2f128_ps(four[k], four[k + 4], 0x31);
  }
}
inline void load_turned(const float* from, int64_t stride, Float to[8]) {
  __m256 rows[8], turned[kLanes / 8][8];
  for (int part = 0; part < kLanes / 8; ++part) {
    for (int k = 0; k < 8; ++k) rows[k] = _mm256_loadu_ps(from + (part * 8 + k) * stride);
    turn_8x8(rows, turned[part]);
  }
#ifdef __AVX512F__
  for (int k = 0; k < 8; ++k) to[k] = joined(turned[0][k], turned[1][k]);
#else
  for (int k = 0; k < 8; ++k) to[k] = turned[0][k];
#endif
}
inline void store_turned(const Float from[8], float* to, int64_t stride) {
  __m256 rows[8], turned[8];
  for (int part = 0; part < kLanes / 8; ++part) {
#ifdef __AVX512F__
    for (int k = 0; k < 8; ++k) rows[k] = part ? high(from[k]) : low(from[k]);
#else
    for (int k = 0; k < 8; ++k) rows[k] = from[k];
#endif
    turn_8x8(rows, turned);
    for (int k = 0; k < 8; ++k) _mm256_storeu_ps(to + (part * 8 + k) * stride, turned[k]);
  }
}

}  // namespace
