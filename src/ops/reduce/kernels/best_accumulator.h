// argmin: the least value of each block of a row by vectors, then a search of the one block where it stands.
struct Accumulator {
  Best best = start_best();
  void row(const char* p, ptrdiff_t n, ptrdiff_t stride, long long first, ptrdiff_t step) {
    constexpr ptrdiff_t kBlock = 1024;
    C value = element(p, 0, stride);
    ptrdiff_t at = 0;
    for (ptrdiff_t i = 0; i < n; i += kBlock) {
      const C least = extreme(p + i * stride, n - i < kBlock ? n - i : kBlock, stride);
      if (beats(least, value)) value = least, at = i;
    }
    at = skip_others(p, at, n, stride, value);
    while (!ties(element(p, at, stride), value)) ++at;
    best = combine(best, Best{value, first + at * step});
  }
  Best result() { return best; }
};
