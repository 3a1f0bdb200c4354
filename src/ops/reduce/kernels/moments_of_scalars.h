static inline A sum(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot) {
  A value = start();
  for (ptrdiff_t i = 0; i < n; ++i) value = value + (map(element(p, i, stride)) - pivot);
  return value;
}
static inline R squares(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot, A mean) {
  R value = R(0);
  for (ptrdiff_t i = 0; i < n; ++i) value = value + square_of((map(element(p, i, stride)) - pivot) - mean);
  return value;
}
