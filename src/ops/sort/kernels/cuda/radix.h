// Shared by both kernels of a radix sort with 8 bits a pass.
#pragma once

namespace iruka::sorting {

constexpr int kDigits = 256;

/// The sum of the values of the block's threads before this one. It contains two barriers.
template <int kWarps, class Count>
inline Count before_thread(Count value, Count* warp_sums, int thread) {
  const int lane = thread % 32, warp = thread / 32;
  Count sum = value;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const Count other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  Count before = sum - value;
#pragma unroll
  for (int k = 0; k < kWarps; ++k)
    if (k < warp) before += warp_sums[k];
  __syncthreads();
  return before;
}

}  // namespace iruka::sorting
