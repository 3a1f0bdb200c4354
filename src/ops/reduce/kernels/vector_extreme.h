static inline C extreme(const char* p, ptrdiff_t n, ptrdiff_t stride) {
  VA v = start_lanes();
  ptrdiff_t i = 0;
  for (; i <= n - kReach; i += W) v = combine(v, load(p + i * stride, stride));
  C value = fold(v);
  for (; i < n; ++i) value = combine(value, element(p, i, stride));
  return value;
}
