static inline void moments_rows(const A* pivots, A* means, R* squares, const char* const* p, int count,
                                ptrdiff_t seen, ptrdiff_t width, ptrdiff_t stride) {
  R share[8];
  for (int k = 0; k < count; ++k) share[k] = R(1) / R(seen + k + 1);
  ptrdiff_t j = 0;
  REST
}
