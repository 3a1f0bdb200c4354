// Scans of other axes: a thread scans a column.
#pragma once

#include "ops/scan/kernels/cuda/operations.h"

namespace iruka::scan {

template <int kRank>
struct WalkArguments {
  const char* x;
  char* out;
  ptrdiff_t n, x_stride, out_stride, extent[kRank], x_step[kRank], out_step[kRank];

  IRUKA_INLINE void locate(ptrdiff_t column, const char*& from, char*& to) const {
#pragma unroll
    for (int k = kRank - 1; k >= 0; --k) {
      const ptrdiff_t at = k > 0 ? column % extent[k] : column;
      column /= extent[k];
      from += at * x_step[k], to += at * out_step[k];
    }
  }
};

template <class Types, int kRank>
IRUKA_INLINE void scan_columns(const WalkArguments<kRank>& a, ptrdiff_t begin, ptrdiff_t end) {
  using A = typename Types::A;
  using In = typename Types::In;
  using Out = typename Types::Out;
  const ptrdiff_t column = begin + (ptrdiff_t)blockIdx.x * Types::kThreads + threadIdx.x;
  if (column >= end) return;
  const char* x = a.x;
  char* out = a.out;
  a.locate(column, x, out);
  A sum = Types::start();
  ptrdiff_t k = 0;
#pragma unroll 1
  for (; k + 4 <= a.n; k += 4) {
    A value[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) value[u] = map<Types>(*(const In*)(x + (k + u) * a.x_stride));
#pragma unroll
    for (int u = 0; u < 4; ++u)
      sum = Types::combine(sum, value[u]), *(Out*)(out + (k + u) * a.out_stride) = Types::finish(sum);
  }
#pragma unroll 1
  for (; k < a.n; ++k) {
    sum = Types::combine(sum, map<Types>(*(const In*)(x + k * a.x_stride)));
    *(Out*)(out + k * a.out_stride) = Types::finish(sum);
  }
}

}  // namespace iruka::scan
