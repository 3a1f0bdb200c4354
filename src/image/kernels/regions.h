// Regions of binary pictures: distances along columns, and connected components by union-find with atomic operations
// (after Playne and Hawick, "A new algorithm for parallel connected-component labelling on GPUs", 2018).
#pragma once

namespace iruka::image {

constexpr int kFar = 1 << 30;  ///< a column without background, and farther than any

/// Columns are cut into bands of rows. The last background row of element `i`'s band of a column, and the first; -1
/// where there is none.
template <class Mask, class Rows>
IRUKA_INLINE void find_in_band(const Mask& is_inside, Rows& last, Rows& first, int height, int width, int band,
                               long long i) {
  const int x = int(i % width), begin = int(i / width) * band, end = begin + band < height ? begin + band : height;
  int from = -1, to = -1;
  for (int y = begin; y < end; ++y) {
    if (is_inside[(long long)y * width + x]) continue;
    to = y;
    from = from < 0 ? y : from;
  }
  last[i] = to;
  first[i] = from;
}
/// The nearest ones outside of each band instead: above it, and below it.
template <class Rows> IRUKA_INLINE void pass_over_bands(Rows& last, Rows& first, int bands, int width, long long x) {
  int above = -1, below = -1;
  for (int k = 0; k < bands; ++k) {
    const long long at = (long long)k * width + x;
    const int own = last[at];
    last[at] = above;
    above = own < 0 ? above : own;
  }
  for (int k = bands - 1; k >= 0; --k) {
    const long long at = (long long)k * width + x;
    const int own = first[at];
    first[at] = below;
    below = own < 0 ? below : own;
  }
}
/// How far the nearest background pixel of each pixel's column is, for a band of it.
template <class Mask, class Rows, class Distances>
IRUKA_INLINE void scan_band(const Mask& is_inside, const Rows& above, const Rows& below, Distances& distances,
                            int height, int width, int band, long long i) {
  const int x = int(i % width), begin = int(i / width) * band, end = begin + band < height ? begin + band : height;
  int way = above[i] < 0 ? kFar : begin - 1 - above[i];
  for (int y = begin; y < end; ++y) {
    const long long at = (long long)y * width + x;
    way = !is_inside[at] ? 0 : way < kFar ? way + 1 : kFar;
    distances[at] = way;
  }
  way = below[i] < 0 ? kFar : below[i] - end;
  for (int y = end - 1; y >= begin; --y) {
    const long long at = (long long)y * width + x;
    const int here = distances[at];
    way = way + 1 < here ? way + 1 : here;
    distances[at] = way;
  }
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
/// The first pixel of the run of a pixel, as far as it lies in the same 32 columns; -1 for background.
constexpr int kSegment = 32;
IRUKA_INLINE int first_of_run(const unsigned char* is_inside, int width, int pixel) {
  if (!is_inside[pixel]) return -1;
  const int begin = pixel - pixel % width % kSegment;
  while (pixel > begin && is_inside[pixel - 1]) --pixel;
  return pixel;
}
/// Joins a pixel to those before it, unless neighbours in its run and in the run above join the same two.
template <bool kHasDiagonals>
IRUKA_INLINE void join_neighbours(const unsigned char* is_inside, int* parents, int width, int pixel) {
  if (!is_inside[pixel]) return;
  const int x = pixel % width, above = pixel - width;
  const bool has_left = x > 0 && is_inside[pixel - 1];
  if (has_left && x % kSegment == 0) join_pixels(parents, pixel, pixel - 1);
  if (above < 0) return;
  const bool has_above_left = x > 0 && is_inside[above - 1];
  if (is_inside[above]) {
    if (!(has_left && has_above_left)) join_pixels(parents, pixel, above);
    return;
  }
  if (!kHasDiagonals) return;
  if (has_above_left && !has_left) join_pixels(parents, pixel, above - 1);
  if (x + 1 < width && is_inside[above + 1] && !is_inside[pixel + 1]) join_pixels(parents, pixel, above + 1);
}

/// What some pixels of a column add to a component.
struct ColumnPart {
  int label = -1, top = 0, bottom = 0;
  unsigned long long count = 0, sum_y = 0;

  IRUKA_INLINE void add(int y) {
    bottom = y;
    count += 1;
    sum_y += y;
  }
  /// To area, sums of y and x; top, left, bottom, right. Ends that were read say enough where they are far enough.
  IRUKA_INLINE void write(unsigned long long* sums, int* boxes, int x) const {
    if (label < 0) return;
    atomicAdd(sums + 3LL * label, count);
    atomicAdd(sums + 3LL * label + 1, sum_y);
    atomicAdd(sums + 3LL * label + 2, count * x);
    int* const box = boxes + 4LL * label;
    if (top < box[0]) atomicMin(box, top);
    if (x < box[1]) atomicMin(box + 1, x);
    if (bottom > box[2]) atomicMax(box + 2, bottom);
    if (x > box[3]) atomicMax(box + 3, x);
  }
};
/// Adds kStrip rows of a column. Two components are kept until a third one comes, so that large components, and the
/// background between their pixels, take few atomic operations.
constexpr int kStrip = 128;
IRUKA_INLINE void add_strip(const int* labels, unsigned long long* sums, int* boxes, int height, int width,
                            long long i) {
  const int x = int(i % width), begin = int(i / width) * kStrip,
            end = begin + kStrip < height ? begin + kStrip : height;
  ColumnPart last, other;
  for (int y = begin; y < end; ++y) {
    const int label = labels[(long long)y * width + x];
    if (label != last.label) {
      const ColumnPart before = last;
      if (label == other.label) {
        last = other;
      } else {
        other.write(sums, boxes, x);
        last = {label, y, y, 0, 0};
      }
      other = before;
    }
    last.add(y);
  }
  last.write(sums, boxes, x);
  other.write(sums, boxes, x);
}

/// The area of a component, its box (y, x, height, width) and its centroid (y, x), of what add_strip() made of it.
IRUKA_INLINE void finish_statistics(const unsigned long long* sums, const int* ends, long long* areas, int* boxes,
                                    double* centroids, long long k) {
  const unsigned long long area = sums[3 * k];
  const int *const from = ends + 4 * k, *const to = from + 2;
  areas[k] = (long long)area;
  for (int axis = 0; axis < 2; ++axis) {
    boxes[4 * k + axis] = area ? from[axis] : 0;
    boxes[4 * k + 2 + axis] = area ? to[axis] - from[axis] + 1 : 0;
    centroids[2 * k + axis] = double(sums[3 * k + 1 + axis]) / double(area);  // 0 / 0 is NaN
  }
}

}  // namespace iruka::image
