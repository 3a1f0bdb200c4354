// Distances of binary pictures by way of the columns of a row. The nearest columns of neighbouring pixels do not cross,
// so that those of a few pixels, found by halving, bound the search for the others: work for a row of n pixels grows
// with n log n, whatever the picture.
#pragma once

#include "image/kernels/regions.h"

namespace iruka::image {

/// What is least for the nearest background by way of a column, which orders columns such that the first nearest ones
/// of neighbouring pixels do not cross: of two columns, the one behind stays the nearer one for all pixels behind a
/// pixel to which it is nearer. Of equal maxima the shorter way counts.
enum DistanceMetric : int { kEuclidean, kCityblock, kChessboard };
template <int kMetric> IRUKA_INLINE long long distance_key(int way, int column) {
  if (kMetric == kEuclidean) return (long long)way * way + (long long)column * column;
  if (kMetric == kCityblock) return (long long)way + column;
  return (long long)(way > column ? way : column) << 31 | way;
}
/// The distance of a key; `nowhere` if there is no background.
template <int kMetric, class Result> IRUKA_INLINE Result distance_of(long long key, Result nowhere) {
  if (key >= distance_key<kMetric>(0, kFar)) return nowhere;
  return kMetric == kEuclidean ? Result(sqrt(double(key))) : Result(kMetric == kChessboard ? key >> 31 : key);
}

/// The first nearest column, from `first` to `last`, of pixel `x` of a row, by a warp.
template <int kMetric> IRUKA_INLINE int nearest_column(const int* columns, int first, int last, int x) {
  long long best = 0x7fffffffffffffffLL;
  int nearest = last;
  for (int at = first + int(threadIdx.x % 32); at <= last; at += 32) {
    const long long key = distance_key<kMetric>(at < x ? x - at : at - x, columns[at]);
    if (key < best) best = key, nearest = at;
  }
  for (int by = 16; by > 0; by /= 2) {
    const long long key = __shfl_xor_sync(~0u, best, by);
    const int at = __shfl_xor_sync(~0u, nearest, by);
    if (key < best || (key == best && at < nearest)) best = key, nearest = at;
  }
  return nearest;
}

/// The distances of a row, by a block. `nearest` has an element for every 32 pixels: the nearest column of each 32nd
/// pixel bounds those of the pixels before and behind it.
template <int kMetric, class Result>
IRUKA_INLINE void search_row(const int* columns, int* nearest, Result* result, int width, Result nowhere) {
  const int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32), warps = int(blockDim.x / 32);
  const int groups = (width + 31) / 32;
  int step = 1;
  while (step < groups) step *= 2;
  for (step /= 2; step > 0; step /= 2) {
    for (long long k = step + 2LL * step * warp; k < groups; k += 2LL * step * warps) {
      const int first = k > step ? nearest[k - step] : 0, last = k + step < groups ? nearest[k + step] : width - 1;
      const int found = nearest_column<kMetric>(columns, first, last, int(k) * 32);
      if (lane == 0) nearest[k] = found;
    }
    __syncthreads();
  }
  for (int group = warp; group < groups; group += warps) {
    const int first = group > 0 ? nearest[group] : 0, last = group + 1 < groups ? nearest[group + 1] : width - 1;
    const int x = 32 * group + lane;
    long long best = 0x7fffffffffffffffLL;
#pragma unroll 4
    for (int at = first; at <= last; ++at) {
      const long long key = distance_key<kMetric>(at < x ? x - at : at - x, columns[at]);
      best = key < best ? key : best;
    }
    if (x < width) result[x] = distance_of<kMetric>(best, nowhere);
  }
  __syncthreads();
}
template <int kMetric, class Result>
IRUKA_INLINE void search_rows(const int* columns, int* nearest, Result* result, int height, int width, Result nowhere) {
  for (int row = int(blockIdx.x); row < height; row += int(gridDim.x))
    search_row<kMetric>(columns + (long long)row * width, nearest + (long long)blockIdx.x * ((width + 31) / 32),
                        result + (long long)row * width, width, nowhere);
}

}  // namespace iruka::image
