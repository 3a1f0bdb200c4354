// Passes vectors that do not hold what is looked for.
static inline ptrdiff_t skip_others(const char* p, ptrdiff_t at, ptrdiff_t n, ptrdiff_t stride, C value) {
  for (; at <= n - kReach; at += W) {
    const VC v = load_computing(p + at * stride, stride);
    if (__builtin_reduce_or((v == (VC)(value)) | ((v != v) & ((VC)(value) != (VC)(value))))) break;
  }
  return at;
}
