// var: mean and squared distances of blocks that stay in the nearest cache, joined.
struct Accumulator {
  Moments all = start_moments();
  void row(const char* p, ptrdiff_t n, ptrdiff_t stride) {
    const A pivot = map(element(p, 0, stride));
    constexpr ptrdiff_t kBlock = 1024;
    for (ptrdiff_t i = 0; i < n; i += kBlock) {
      const ptrdiff_t length = n - i < kBlock ? n - i : kBlock;
      const A mean = sum(p + i * stride, length, stride, pivot) / R(length);
      all = combine(all, Moments{pivot, mean, squares(p + i * stride, length, stride, pivot, mean), double(length)});
    }
  }
  Moments result() { return all; }
};
