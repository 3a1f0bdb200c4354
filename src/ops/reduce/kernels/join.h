// Joins chunks in a tree of fixed shape, for some outputs side by side.
constexpr ptrdiff_t kJoined = 64;
static __attribute__((noinline)) void join(Partial* to, const Partial* p, ptrdiff_t chunks, ptrdiff_t outputs, ptrdiff_t count) {
  if (chunks == 1) {
    for (ptrdiff_t k = 0; k < count; ++k) to[k] = p[k];
    return;
  }
  const ptrdiff_t half = chunks / 2;
  Partial others[kJoined];
  join(to, p, half, outputs, count);
  join(others, p + half * outputs, chunks - half, outputs, count);
  for (ptrdiff_t k = 0; k < count; ++k) to[k] = combine(to[k], others[k]);
}
