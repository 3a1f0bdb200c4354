// Two layers for kLanes * 2 voxels at a time: channels turned into vectors, four sums of two vectors each in registers.
#include "threads.h"
#include "vector.h"

namespace {

void turn_8x8(const float* from, __m256 to[8]) {
  __m256 row[8], pair[8];
  for (int k = 0; k < 8; ++k) row[k] = _mm256_loadu_ps(from + 8 * k);
  for (int k = 0; k < 4; ++k) {
    pair[2 * k] = _mm256_unpacklo_ps(row[2 * k], row[2 * k + 1]);
    pair[2 * k + 1] = _mm256_unpackhi_ps(row[2 * k], row[2 * k + 1]);
  }
  for (int k = 0; k < 8; k += 4) {
    row[k] = _mm256_shuffle_ps(pair[k], pair[k + 2], 0x44);
    row[k + 1] = _mm256_shuffle_ps(pair[k], pair[k + 2], 0xee);
    row[k + 2] = _mm256_shuffle_ps(pair[k + 1], pair[k + 3], 0x44);
    row[k + 3] = _mm256_shuffle_ps(pair[k + 1], pair[k + 3], 0xee);
  }
  for (int k = 0; k < 4; ++k) {
    to[k] = _mm256_permute2f128_ps(row[k], row[k + 4], 0x20);
    to[k + 4] = _mm256_permute2f128_ps(row[k], row[k + 4], 0x31);
  }
}

// Four vectors of 8 into 8 groups of 4.
void store_groups(const __m256 from[4], float* to) {
  const __m256 a = _mm256_unpacklo_ps(from[0], from[1]), b = _mm256_unpackhi_ps(from[0], from[1]);
  const __m256 c = _mm256_unpacklo_ps(from[2], from[3]), d = _mm256_unpackhi_ps(from[2], from[3]);
  const __m256 even[2] = {_mm256_shuffle_ps(a, c, 0x44), _mm256_shuffle_ps(a, c, 0xee)};
  const __m256 odd[2] = {_mm256_shuffle_ps(b, d, 0x44), _mm256_shuffle_ps(b, d, 0xee)};
  _mm256_storeu_ps(to, _mm256_permute2f128_ps(even[0], even[1], 0x20));
  _mm256_storeu_ps(to + 8, _mm256_permute2f128_ps(odd[0], odd[1], 0x20));
  _mm256_storeu_ps(to + 16, _mm256_permute2f128_ps(even[0], even[1], 0x31));
  _mm256_storeu_ps(to + 24, _mm256_permute2f128_ps(odd[0], odd[1], 0x31));
}

void load_channels(const float* x, Float to[8]) {
#ifdef __AVX512F__
  __m256 low[8], high[8];
  turn_8x8(x, low);
  turn_8x8(x + 64, high);
  for (int c = 0; c < 8; ++c) to[c] = joined(low[c], high[c]);
#else
  turn_8x8(x, to);
#endif
}

void store_outputs(const Float from[4], float* to) {
#ifdef __AVX512F__
  const __m256 first[4] = {low(from[0]), low(from[1]), low(from[2]), low(from[3])};
  const __m256 second[4] = {high(from[0]), high(from[1]), high(from[2]), high(from[3])};
  store_groups(first, to);
  store_groups(second, to + 32);
#else
  store_groups(from, to);
#endif
}

constexpr int kVectors = 2, kBlock = kLanes * kVectors, kHidden = 32;

void block(const float* x, const float* w1, const float* b1, const float* w2, const float* b2, float* y) {
  Float in[kVectors][8], hidden[kHidden][kVectors];
  for (int v = 0; v < kVectors; ++v) load_channels(x + v * kLanes * 8, in[v]);
  for (int r = 0; r < kHidden; r += 4) {
    Float sum[4][kVectors];
    for (int k = 0; k < 4; ++k)
      for (int v = 0; v < kVectors; ++v) sum[k][v] = all(b1[r + k]);
    for (int c = 0; c < 8; ++c)
      for (int k = 0; k < 4; ++k)
        for (int v = 0; v < kVectors; ++v) sum[k][v] = fma(all(w1[(r + k) * 8 + c]), in[v][c], sum[k][v]);
    for (int k = 0; k < 4; ++k)
      for (int v = 0; v < kVectors; ++v) hidden[r + k][v] = max(sum[k][v], all(0.0f));
  }
  Float out[kVectors][4];
  for (int v = 0; v < kVectors; ++v)
    for (int o = 0; o < 4; ++o) out[v][o] = all(b2[o]);
  for (int r = 0; r < kHidden; ++r)
    for (int o = 0; o < 4; ++o)
      for (int v = 0; v < kVectors; ++v) out[v][o] = fma(all(w2[o * kHidden + r]), hidden[r][v], out[v][o]);
  for (int v = 0; v < kVectors; ++v) store_outputs(out[v], y + v * kLanes * 4);
}

void single(const float* x, const float* w1, const float* b1, const float* w2, const float* b2, float* y) {
  float hidden[kHidden];
  for (int r = 0; r < kHidden; ++r) {
    float sum = b1[r];
    for (int c = 0; c < 8; ++c) sum = __builtin_fmaf(w1[r * 8 + c], x[c], sum);
    hidden[r] = std::max(sum, 0.0f);
  }
  for (int o = 0; o < 4; ++o) {
    float sum = b2[o];
    for (int r = 0; r < kHidden; ++r) sum = __builtin_fmaf(w2[o * kHidden + r], hidden[r], sum);
    y[o] = sum;
  }
}

}  // namespace

extern "C" void perceptron(const float* x, const float* w1, const float* b1, const float* w2, const float* b2,
                           int64_t n, float* y, int64_t threads) {
  in_parts(n, threads, [=](int64_t i, int64_t end) {
    for (; i + kBlock <= end; i += kBlock) block(x + i * 8, w1, b1, w2, b2, y + i * 4);
    for (; i < end; ++i) single(x + i * 8, w1, b1, w2, b2, y + i * 4);
  });
}
