// A thread computes an element. Neighbouring threads read the same rows and columns from the first-level cache.
#pragma once

namespace iruka::linear_algebra {

template <class T>
struct SmallProductArguments {
  const T *a, *b;
  T* c;
  ptrdiff_t size, rows, columns, depth, a_row, a_column, a_batch, b_row, b_column, b_batch;
};

template <class T, int kThreads>
IRUKA_INLINE void multiply_small(const SmallProductArguments<T>& p, ptrdiff_t begin, ptrdiff_t end) {
  const ptrdiff_t at = (begin + (ptrdiff_t)blockIdx.x) * kThreads + (ptrdiff_t)threadIdx.x;
  if (at >= p.size) return;
  const unsigned each = (unsigned)(p.rows * p.columns), columns = (unsigned)p.columns;
  const ptrdiff_t matrix = p.size >> 32 ? at / (ptrdiff_t)each : (ptrdiff_t)((unsigned)at / each);
  const unsigned rest = (unsigned)(at - matrix * each), row = rest / columns, column = rest - row * columns;
  const T *a = p.a + matrix * p.a_batch + row * p.a_row, *b = p.b + matrix * p.b_batch + column * p.b_column;
  T sum = a[0] * b[0];
#pragma unroll 4
  for (int k = 1; k < (int)p.depth; ++k) sum = sum + a[k * p.a_column] * b[k * p.b_row];
  p.c[at] = sum;
}

}  // namespace iruka::linear_algebra
