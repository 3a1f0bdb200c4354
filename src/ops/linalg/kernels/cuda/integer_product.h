// A block computes a tile of 64 x 64 elements in steps of 16 along k, a thread 4 x 4 of them.
#pragma once

namespace iruka::linear_algebra {

template <class T>
struct ProductArguments {
  const T *a, *b;
  T* c;
  ptrdiff_t m, n, k, a_row, a_column, a_batch, b_row, b_column, b_batch, tiles_m, tiles_n;
};

template <class T>
IRUKA_INLINE void multiply_integers(const ProductArguments<T>& p, ptrdiff_t begin, ptrdiff_t end) {
  constexpr int kTile = 64, kDepth = 16, kOwn = 4;
  __shared__ T left[kDepth][kTile + 1], right[kDepth][kTile + 1];
  const ptrdiff_t block = begin + (ptrdiff_t)blockIdx.x;
  const ptrdiff_t matrix = block / (p.tiles_m * p.tiles_n), tile = block % (p.tiles_m * p.tiles_n);
  const ptrdiff_t row = tile / p.tiles_n * kTile, column = tile % p.tiles_n * kTile;
  const T *a = p.a + matrix * p.a_batch, *b = p.b + matrix * p.b_batch;
  const int thread = (int)threadIdx.x, y = thread / 16, x = thread % 16;
  T sums[kOwn][kOwn];
#pragma unroll
  for (int r = 0; r < kOwn; ++r)
#pragma unroll
    for (int c = 0; c < kOwn; ++c) sums[r][c] = T(0);
#pragma unroll 1
  for (ptrdiff_t k = 0; k < p.k; k += kDepth) {
#pragma unroll
    for (int v = 0; v < kDepth * kTile / 256; ++v) {
      const int at = thread + v * 256;
      // Neighbouring threads read neighbours in memory: along k in a, along columns in b.
      const ptrdiff_t ar = row + at / kDepth, ak = k + at % kDepth, bk = k + at / kTile, bc = column + at % kTile;
      left[at % kDepth][at / kDepth] = ar < p.m && ak < p.k ? a[ar * p.a_row + ak * p.a_column] : T(0);
      right[at / kTile][at % kTile] = bk < p.k && bc < p.n ? b[bk * p.b_row + bc * p.b_column] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d)
#pragma unroll
      for (int r = 0; r < kOwn; ++r)
#pragma unroll
        for (int c = 0; c < kOwn; ++c) sums[r][c] = (T)(sums[r][c] + left[d][y + 16 * r] * right[d][x + 16 * c]);
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kOwn; ++r)
#pragma unroll
    for (int c = 0; c < kOwn; ++c) {
      const ptrdiff_t i = row + y + 16 * r, j = column + x + 16 * c;
      if (i < p.m && j < p.n) p.c[(matrix * p.m + i) * p.n + j] = sums[r][c];
    }
}

}  // namespace iruka::linear_algebra
