// Columns: every row moves the means by a share of its distance from them (Welford, 1962).
static inline void moments_rows(const A* pivots, A* means, R* squares, const char* const* p, int count,
                                ptrdiff_t seen, ptrdiff_t width, ptrdiff_t stride) {
  R share[8];
  for (int k = 0; k < count; ++k) share[k] = R(1) / R(seen + k + 1);
  ptrdiff_t j = 0;
  for (; j <= width - kReach; j += W) {
    VA pivot, mean, square;
    __builtin_memcpy(&pivot, pivots + j, sizeof(pivot));
    __builtin_memcpy(&mean, means + j, sizeof(mean));
    __builtin_memcpy(&square, squares + j, sizeof(square));
    for (int k = 0; k < count; ++k) {
      const VA x = load(p[k] + j * stride, stride) - pivot, d = x - mean;
      mean = mean + d * (VA)(share[k]);
      square = square + d * (x - mean);
    }
    __builtin_memcpy(means + j, &mean, sizeof(mean));
    __builtin_memcpy(squares + j, &square, sizeof(square));
  }
  REST
}
