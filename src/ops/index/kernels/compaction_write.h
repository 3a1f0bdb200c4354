// Positions gather in shared memory, so that neighbours in memory are written by neighbouring threads.
  __shared__ int cells[kThreads];
  __shared__ unsigned short found[kThreads * kBytes];
  const Bytes bytes = load(a, first);
  int total;
  int place = sum_before(count(bytes), cells, total);
#pragma unroll
  for (int k = 0; k < kBytes; ++k)
    if (bytes.at[k] != 0) found[place++] = (unsigned short)(thread * kBytes + k);
  __syncthreads();
  int64_t* out = a.out + a.counts[blockIdx.x];
  for (int k = thread; k < total; k += kThreads) out[k] = tile_begin + found[k];
