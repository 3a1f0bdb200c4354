// A warp's elements lie in shared memory, where words of 16 bytes change places so that neither the order of memory nor
// a thread's own run of kItems elements meets a bank twice.
constexpr int kInWords = kItems * sizeof(In) / 16, kOutWords = kItems * sizeof(Out) / 16;
static_assert(kInWords > 0 && kOutWords > 0);
constexpr int kSegment = 32 * (kInWords > kOutWords ? kInWords : kOutWords);
template <int kWords> inline int place(int word) {
  const int owner = word / kWords;
  return owner * kWords + (word % kWords ^ owner / (8 / kWords) % kWords);
}
template <class T> inline T* element(uint4* segment, int e) {
  constexpr int per_word = 16 / sizeof(T);
  return (T*)(segment + place<kItems * sizeof(T) / 16>(e / per_word)) + e % per_word;
}
inline void fetch(const uint4* segment, int lane, In* value) {
#pragma unroll
  for (int w = 0; w < kInWords; ++w) {
    const uint4 word = segment[place<kInWords>(lane * kInWords + w)];
    memcpy(value + w * (16 / sizeof(In)), &word, 16);
  }
}
inline void load(const char* x, ptrdiff_t stride, ptrdiff_t left, uint4* segment, int lane) {
  const auto at = [=](int e) { return kDense ? ((const In*)x)[e] : *(const In*)(x + e * stride); };
  if (kAlignedIn && left >= 32 * kItems) {
    uint4 word[kInWords];
#pragma unroll
    for (int w = 0; w < kInWords; ++w) word[w] = ((const uint4*)x)[w * 32 + lane];
#pragma unroll
    for (int w = 0; w < kInWords; ++w) segment[place<kInWords>(w * 32 + lane)] = word[w];
  } else if (left >= 32 * kItems) {
    constexpr int kAtOnce = kItems < 8 ? kItems : 8;
#pragma unroll 1
    for (int e = lane; e < 32 * kItems; e += 32 * kAtOnce) {
      In value[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) value[k] = at(e + 32 * k);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) *element<In>(segment, e + 32 * k) = value[k];
    }
  } else {
#pragma unroll 4
    for (int e = lane; e < 32 * kItems; e += 32) *element<In>(segment, e) = e < left ? at(e) : In{};
  }
}
inline void store(Out* out, ptrdiff_t left, uint4* segment, int lane) {
  if (kAlignedOut && left >= 32 * kItems) {
#pragma unroll
    for (int w = 0; w < kOutWords; ++w)
      iruka::store_word((uint4*)out + w * 32 + lane, segment[place<kOutWords>(w * 32 + lane)]);
  } else {
#pragma unroll 4
    for (int e = lane; e < 32 * kItems; e += 32)
      if (e < left) out[e] = *element<Out>(segment, e);
  }
}
extern "C" __global__ void __launch_bounds__(kThreads, 1024 / kThreads) iruka_entry(
    const Arguments a, const ptrdiff_t begin, const ptrdiff_t) {
  __shared__ uint4 segments[kThreads / 32 * kSegment];
  __shared__ uint4 memory[(sizeof(A) * (kThreads / 32 + 1) + 15) / 16];
  A* const totals = (A*)memory;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const ptrdiff_t number = begin + blockIdx.x, row = number < a.tiles ? 0 : number / a.tiles, tile = number - row * a.tiles;
  const ptrdiff_t first = tile * (kThreads * kItems) + warp * (32 * kItems), left = a.n - first;
  uint4* const segment = segments + warp * kSegment;
  const ptrdiff_t stride = kDense ? sizeof(In) : a.x_stride;
  load(a.x + row * a.x_row + first * stride, stride, left, segment, lane);
  __syncwarp();
  In value[kItems];
  fetch(segment, lane, value);
  // Four sums at once: the other blocks wait for what this one publishes.
  constexpr int kRun = kItems / 4;
  A sums[4];
#pragma unroll
  for (int k = 0; k < kRun; ++k)
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const A next = map(value[u * kRun + k]);
      sums[u] = k > 0 ? combine(sums[u], next) : next;
    }
  const A sum = combine(combine(sums[0], sums[1]), combine(sums[2], sums[3]));
  const A scanned = warp_scan(sum, lane), exclusive = shuffle_up(scanned, 1);
  if (lane == 31) totals[warp] = scanned;
  __syncthreads();
  A prefix = start();
#pragma unroll
  for (int k = 0; k < kThreads / 32; ++k)
    if (k < warp) prefix = combine(prefix, totals[k]);
  if (kLooksBack) {
    A own = totals[0];
#pragma unroll
    for (int k = 1; k < kThreads / 32; ++k) own = combine(own, totals[k]);
    const A tile_prefix = look_back(a, row, tile, own, lane, warp == 0);
    if (thread == 31) totals[kThreads / 32] = tile_prefix;
    __syncthreads();
    prefix = combine(totals[kThreads / 32], prefix);
  }
  if (lane > 0) prefix = combine(prefix, exclusive);
  fetch(segment, lane, value);  // again, rather than registers kept while looking back
  __syncwarp();
#pragma unroll
  for (int w = 0; w < kOutWords; ++w) {
    Out result[16 / sizeof(Out)];
#pragma unroll
    for (int k = 0; k < int(16 / sizeof(Out)); ++k)
      prefix = combine(prefix, map(value[w * (16 / sizeof(Out)) + k])), result[k] = finish(prefix);
    uint4 word;
    memcpy(&word, result, 16);
    segment[place<kOutWords>(lane * kOutWords + w)] = word;
  }
  __syncwarp();
  store((Out*)(a.out + row * a.out_row) + first, left, segment, lane);
}
