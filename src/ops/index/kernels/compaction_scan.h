// counts[k] becomes the sum of those before it; the last entry the sum of all. One block, a run of counts a thread.
  constexpr int kRun = 16;
  __shared__ int64_t cells[kThreads];
  int64_t before = 0;
  for (ptrdiff_t tile = 0; tile < a.tiles; tile += kThreads * kRun) {
    const ptrdiff_t begin = tile + thread * kRun, end = begin + kRun < a.tiles ? begin + kRun : a.tiles;
    int64_t own = 0, total;
    for (ptrdiff_t k = begin; k < end; ++k) own += a.counts[k];
    int64_t place = before + sum_before(own, cells, total);
    for (ptrdiff_t k = begin; k < end; ++k) {
      const int64_t count = a.counts[k];
      a.counts[k] = place;
      place += count;
    }
    before += total;
    __syncthreads();
  }
  if (thread == 0) a.counts[a.tiles] = before;
