  __shared__ int cells[kThreads];
  int total;
  sum_before(count(load(a, first)), cells, total);
  if (thread == 0) a.counts[blockIdx.x] = total;
