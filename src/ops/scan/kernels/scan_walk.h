extern "C" __global__ void __launch_bounds__(128) iruka_entry(
    const Arguments a, const ptrdiff_t begin, const ptrdiff_t end) {
  const ptrdiff_t column = begin + (ptrdiff_t)blockIdx.x * 128 + threadIdx.x;
  if (column >= end) return;
  const char* x = a.x;
  char* out = a.out;
  locate(a, column, x, out);
  A sum = start();
  ptrdiff_t k = 0;
#pragma unroll 1
  for (; k + 4 <= a.n; k += 4) {
    A value[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) value[u] = map(*(const In*)(x + (k + u) * a.x_stride));
#pragma unroll
    for (int u = 0; u < 4; ++u) sum = combine(sum, value[u]), *(Out*)(out + (k + u) * a.out_stride) = finish(sum);
  }
#pragma unroll 1
  for (; k < a.n; ++k) {
    sum = combine(sum, map(*(const In*)(x + k * a.x_stride)));
    *(Out*)(out + k * a.out_stride) = finish(sum);
  }
}
