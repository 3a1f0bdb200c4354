// A thread looks at 16 bytes. Sums of a block go through shared memory, doubling the reach at each step.
struct Arguments {
  const unsigned char* mask;
  ptrdiff_t size, tiles;
  int64_t* counts;
  int64_t* out;
};
struct Bytes { unsigned char at[kBytes]; };
inline Bytes load(const Arguments& a, ptrdiff_t first) {
  Bytes bytes;
  if (first + kBytes <= a.size && ((size_t)(a.mask + first) & 15) == 0) {
    const uint4 word = *(const uint4*)(a.mask + first);
    memcpy(&bytes, &word, kBytes);
  } else {
#pragma unroll
    for (int k = 0; k < kBytes; ++k) bytes.at[k] = first + k < a.size ? a.mask[first + k] : 0;
  }
  return bytes;
}
inline int count(const Bytes& bytes) {
  int total = 0;
#pragma unroll
  for (int k = 0; k < kBytes; ++k) total += bytes.at[k] != 0;
  return total;
}
template <class T> inline T sum_before(T own, T* cells, T& total) {
  const int thread = threadIdx.x;
  cells[thread] = own;
  __syncthreads();
#pragma unroll 1
  for (int reach = 1; reach < kThreads; reach *= 2) {
    const T other = thread >= reach ? cells[thread - reach] : T(0);
    __syncthreads();
    cells[thread] += other;
    __syncthreads();
  }
  total = cells[kThreads - 1];
  return cells[thread] - own;
}
