// Regions of binary pictures: distances, and connected components by union-find with atomic operations (after Playne
// and Hawick, "A new algorithm for parallel connected-component labelling on GPUs", 2018).
#pragma once

namespace iruka::image {

constexpr int kFar = 1 << 30;                         ///< a column without background
constexpr long long kNowhere = 0x7fffffffffffffffLL;  ///< from pixels of a row without background

/// How far the nearest background pixel of each pixel's column `x` is.
template <class Mask, class Distances>
IRUKA_INLINE void scan_column(const Mask& is_inside, Distances& distances, long long height, long long width,
                              long long x) {
  int last = kFar;
  for (long long y = 0; y < height; ++y) {
    last = !is_inside[y * width + x] ? 0 : last < kFar ? last + 1 : kFar;
    distances[y * width + x] = last;
  }
  for (long long y = height - 1; y >= 0; --y) {
    const int here = distances[y * width + x];
    last = last + 1 < here ? last + 1 : here;
    distances[y * width + x] = last;
  }
}

/// The least of the distances by way of the columns of a row. As `distance` grows with the way along the row, columns
/// that are farther than the least one so far need not be seen.
enum DistanceMetric : int { kEuclidean, kCityblock, kChessboard };
template <int kMetric> IRUKA_INLINE long long distance_by(long long way, long long column) {
  if (column >= kFar) return kNowhere;
  if (kMetric == kEuclidean) return way * way + column * column;
  return kMetric == kCityblock ? way + column : way > column ? way : column;
}
template <int kMetric, class Distances>
IRUKA_INLINE long long nearest_background(const Distances& columns, long long row, long long width, long long x) {
  long long best = distance_by<kMetric>(0, columns[row + x]);
  for (long long way = 1; way < width && distance_by<kMetric>(way, 0) < best; ++way) {
    for (int side = 0; side < 2; ++side) {
      const long long at = side ? x + way : x - way;
      if (at < 0 || at >= width) continue;
      const long long other = distance_by<kMetric>(way, columns[row + at]);
      if (other < best) best = other;
    }
  }
  return best;
}

/// The first pixel of a set, as far as it is known.
IRUKA_INLINE int first_of(const int* parents, int pixel) {
  for (int above = parents[pixel]; above != pixel; above = parents[pixel]) pixel = above;
  return pixel;
}
IRUKA_INLINE void join_pixels(int* parents, int a, int b) {
  for (;;) {
    a = first_of(parents, a);
    b = first_of(parents, b);
    if (a == b) return;
    const int last = a < b ? b : a, first = a < b ? a : b;
    // The last one of a set points to itself unless another thread has joined it meanwhile.
    const int old = atomicMin(parents + last, first);
    if (old == last) return;
    a = old;
    b = first;
  }
}
template <bool kHasDiagonals> IRUKA_INLINE void join_neighbours(int* parents, int width, int pixel) {
  if (parents[pixel] < 0) return;
  const int x = pixel % width;
  const auto join = [&](int other) {
    if (parents[other] >= 0) join_pixels(parents, pixel, other);
  };
  if (x > 0) join(pixel - 1);
  if (pixel < width) return;
  join(pixel - width);
  if (!kHasDiagonals) return;
  if (x > 0) join(pixel - width - 1);
  if (x + 1 < width) join(pixel - width + 1);
}

/// Adds the run of equal labels that begins at a pixel, if one does: area, sums of y and x; top, left, bottom, right.
IRUKA_INLINE void add_run(const int* labels, unsigned long long* sums, int* boxes, int width, int pixel) {
  const int y = pixel / width, x = pixel - y * width, label = labels[pixel];
  if (x > 0 && labels[pixel - 1] == label) return;
  int end = x + 1;
  while (end < width && labels[y * width + end] == label) ++end;
  const unsigned long long count = end - x;
  atomicAdd(sums + 3LL * label, count);
  atomicAdd(sums + 3LL * label + 1, y * count);
  atomicAdd(sums + 3LL * label + 2, ((unsigned long long)(x) + end - 1) * count / 2);
  atomicMin(boxes + 4LL * label, y);
  atomicMin(boxes + 4LL * label + 1, x);
  atomicMax(boxes + 4LL * label + 2, y);
  atomicMax(boxes + 4LL * label + 3, end - 1);
}

}  // namespace iruka::image
