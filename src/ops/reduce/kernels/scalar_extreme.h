static inline C extreme(const char* p, ptrdiff_t n, ptrdiff_t stride) {
  C value = start();
  for (ptrdiff_t i = 0; i < n; ++i) value = combine(value, element(p, i, stride));
  return value;
}
