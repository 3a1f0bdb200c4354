// Gaussian elimination with partial pivoting of [a | b] in shared memory, in C order. A matrix has kGroup threads: each
// has a row during elimination, and columns of b after it. Threads without a matrix take part in the barriers alone.
#pragma once

namespace iruka::linear_algebra {

template <class T>
struct SystemArguments {
  const T *a, *b;
  T* out;
  int *pivots, *singular;
  ptrdiff_t batch, rows, sides;
};

template <int kGroup, class T>
inline void move(const T* from, int from_width, T* to, int to_width, int rows, int columns, int lane) {
  constexpr int kAtOnce = 8;  // loads in flight
  for (int c = lane; c < columns; c += kGroup)
#pragma unroll 1
    for (int r = 0; r < rows; r += kAtOnce) {
      T kept[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (r + k < rows) kept[k] = from[(r + k) * from_width + c];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (r + k < rows) to[(r + k) * to_width + c] = kept[k];
    }
}

template <class F>
inline F size(F x) {
  return fabs(x);
}
template <class F>
inline F size(complex<F> x) {
  return fabs(x.real()) + fabs(x.imag());
}

/// A block solves `kMatrices` systems.
template <class T, int kGroup, int kMostSides, int kMatrices>
IRUKA_INLINE void solve_small(const SystemArguments<T>& p, ptrdiff_t begin, ptrdiff_t end) {
  constexpr int kWidth = (kGroup + kMostSides) | 1;
  __shared__ T cells[kMatrices * kGroup * kWidth];
  const int lane = (int)threadIdx.x % kGroup, place = (int)threadIdx.x / kGroup;
  const int n = (int)p.rows, sides = kMostSides > 0 ? (int)p.sides : 0, columns = n + sides;
  const ptrdiff_t matrix = (begin + (ptrdiff_t)blockIdx.x) * kMatrices + place;
  const bool works = matrix < p.batch;
  T* const rows = cells + place * kGroup * kWidth;
  if (works) {
    move<kGroup>(p.a + matrix * n * n, n, rows, kWidth, n, n, lane);
    if (p.b)
      move<kGroup>(p.b + matrix * n * sides, sides, rows + n, kWidth, n, sides, lane);
    else
      for (int r = 0; r < n; ++r)
        for (int c = lane; c < sides; c += kGroup) rows[r * kWidth + n + c] = T(r == c ? 1 : 0);
  }
  __syncthreads();
#pragma unroll 1
  for (int j = 0; j < n; ++j) {
    int best = j;
    auto most = size(rows[j * kWidth + j]);
#pragma unroll 4
    for (int r = j + 1; r < n; ++r) {
      const auto other = size(rows[r * kWidth + j]);
      if (other > most) most = other, best = r;
    }
    const T pivot = rows[best * kWidth + j];
    const bool is_zero = pivot == T(0);
    __syncthreads();
    if (best != j) {
      for (int c = j + lane; c < columns; c += kGroup) {
        const T kept = rows[j * kWidth + c];
        rows[j * kWidth + c] = rows[best * kWidth + c];
        rows[best * kWidth + c] = kept;
      }
    }
    if (lane == 0 && works) {
      if (p.pivots) p.pivots[matrix * n + j] = best + 1;
      if (p.singular && is_zero) *p.singular = 1;
    }
    __syncthreads();
    if (lane > j && lane < n && !is_zero) {
      T* const own = rows + lane * kWidth;
      const T factor = own[j] / pivot;
      own[j] = factor;
#pragma unroll 4
      for (int c = j + 1; c < columns; ++c) own[c] = own[c] - factor * rows[j * kWidth + c];
    }
    __syncthreads();
  }
  for (int c = n + lane; c < columns; c += kGroup) {
#pragma unroll 1
    for (int r = n - 1; r >= 0; --r) {
      T sum = rows[r * kWidth + c];
#pragma unroll 4
      for (int k = r + 1; k < n; ++k) sum = sum - rows[r * kWidth + k] * rows[k * kWidth + c];
      rows[r * kWidth + c] = sum / rows[r * kWidth + r];
    }
  }
  __syncthreads();
  if (!works) return;
  if (kMostSides > 0)
    move<kGroup>(rows + n, kWidth, p.out + matrix * n * sides, sides, n, sides, lane);
  else
    move<kGroup>(rows, kWidth, p.out + matrix * n * n, n, n, n, lane);
}

}  // namespace iruka::linear_algebra
