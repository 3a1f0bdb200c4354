static inline A sum(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot) {
  VA v = start_lanes();
  ptrdiff_t i = 0;
  for (; i <= n - kReach; i += W) v = v + (load(p + i * stride, stride) - (VA)(pivot));
  A value = fold(v);
  for (; i < n; ++i) value = value + (map(element(p, i, stride)) - pivot);
  return value;
}
static inline R squares(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot, A mean) {
  VA v = start_lanes();
  ptrdiff_t i = 0;
  for (; i <= n - kReach; i += W) {
    const VA d = (load(p + i * stride, stride) - (VA)(pivot)) - (VA)(mean);
    v = v + d * d;
  }
  R value = fold(v);
  for (; i < n; ++i) value = value + square_of((map(element(p, i, stride)) - pivot) - mean);
  return value;
}
