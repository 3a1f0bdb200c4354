// Approximate nearest patches by random search and propagation, in kernels and in the CPU's loops: PatchMatch (Barnes,
// Shechtman, Finkelstein and Goldman, ACM Transactions on Graphics 28(3), 2009).
//
// Neighbours hand on their candidates along segments of a row or a column, each of which is one element of a kernel.
// The first pixel of a segment sees the state before the sweep, so that the result depends on no order of elements.
#pragma once

namespace iruka::image {

struct SearchSizes {
  int height, width, b_height, b_width;
  int window_y, window_x;
  int has_mask;
};

/// Random bits by their number alone: the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
IRUKA_INLINE unsigned long long random_bits(unsigned long long seed, unsigned long long number) {
  unsigned long long z = seed + (number + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// A number of [low, high] from 32 random bits.
IRUKA_INLINE int random_between(unsigned bits, int low, int high) {
  return low + int(((unsigned long long)bits * (unsigned)(high - low + 1)) >> 32);
}

/// The distance of two patches of pictures with their borders, channels last. Sum is its type.
template <class T, class SumType, int kPatch, int kChannels> struct PlainDistance {
  using Sum = SumType;
  const T *a, *b;
  int width, b_width;

  /// Ends where the sum exceeds `limit`.
  IRUKA_INLINE Sum operator()(int y, int x, int b_y, int b_x, Sum limit) const {
    const T* p = a + (ptrdiff_t(y) * (width + kPatch - 1) + x) * kChannels;
    const T* q = b + (ptrdiff_t(b_y) * (b_width + kPatch - 1) + b_x) * kChannels;
    Sum sum = 0;
    for (int dy = 0; dy < kPatch; dy++) {
      Sum row = 0;
      if constexpr (Sum(0.5) == Sum(0)) {
        for (int k = 0; k < kPatch * kChannels; k++) {
          const Sum difference = Sum(p[k]) - Sum(q[k]);
          row += difference * difference;
        }
      } else {
        for (int dx = 0; dx < kPatch; dx++) {
          Sum pixel = 0;
          for (int c = 0; c < kChannels; c++) {
            const Sum difference = Sum(p[dx * kChannels + c]) - Sum(q[dx * kChannels + c]);
            pixel = fma(difference, difference, pixel);
          }
          row += pixel;
        }
      }
      sum += row;
      if (!(sum <= limit)) return sum;
      p += (width + kPatch - 1) * kChannels;
      q += (b_width + kPatch - 1) * kChannels;
    }
    return sum;
  }
};

/// The candidates of each pixel.
template <class Distance, int kKept> struct PatchSearch {
  using Sum = typename Distance::Sum;
  Distance distance;
  SearchSizes sizes;
  const bool* mask;
  const int* before;  ///< candidates before the sweep, as labels
  int* labels;        ///< (pixels, kKept): numbers of pixels of b, nearest first; -1 where there is none
  Sum* distances;
  unsigned long long seed;

  /// Puts pixel (b_y, b_x) of b among the candidates of pixel (y, x) if it is near enough.
  IRUKA_INLINE void consider(int y, int x, int b_y, int b_x) {
    if (b_y < 0 || b_y >= sizes.b_height || b_x < 0 || b_x >= sizes.b_width) return;
    if (abs(b_y - y) > sizes.window_y || abs(b_x - x) > sizes.window_x) return;
    const int label = b_y * sizes.b_width + b_x;
    if (sizes.has_mask && !mask[label]) return;
    int* const own = labels + (ptrdiff_t(y) * sizes.width + x) * kKept;
    Sum* const least = distances + (ptrdiff_t(y) * sizes.width + x) * kKept;
    for (int k = 0; k < kKept; k++)
      if (own[k] == label) return;
    const Sum limit = least[kKept - 1];
    const Sum found = distance(y, x, b_y, b_x, limit);
    // Of equal ones the first in scan order is nearer; an infinite distance is no candidate.
    if (!(found < limit || (found == limit && label < own[kKept - 1]))) return;
    int k = kKept - 1;
    for (; k > 0 && (found < least[k - 1] || (found == least[k - 1] && label < own[k - 1])); k--) {
      own[k] = own[k - 1];
      least[k] = least[k - 1];
    }
    own[k] = label;
    least[k] = found;
  }

  /// Begins with random candidates. The first one is any that the mask and the window allow.
  IRUKA_INLINE void begin(ptrdiff_t pixel, Sum farthest) {
    const int y = int(pixel / sizes.width), x = int(pixel % sizes.width);
    const int top = max(0, y - sizes.window_y), bottom = min(sizes.b_height - 1, y + sizes.window_y);
    const int left = max(0, x - sizes.window_x), right = min(sizes.b_width - 1, x + sizes.window_x);
    for (int k = 0; k < kKept; k++) {
      labels[pixel * kKept + k] = -1;
      distances[pixel * kKept + k] = farthest;
    }
    if (top > bottom || left > right) return;
    for (int k = 0; k < kKept; k++) {
      const unsigned long long bits = random_bits(seed, (unsigned long long)pixel * kKept + k);
      int b_y = random_between(unsigned(bits >> 32), top, bottom), b_x = random_between(unsigned(bits), left, right);
      // The next place in scan order that the mask allows and that is not taken, around the window.
      const ptrdiff_t places = ptrdiff_t(bottom - top + 1) * (right - left + 1);
      for (ptrdiff_t tried = 0; tried < places; tried++) {
        const int label = b_y * sizes.b_width + b_x;
        bool is_free = !sizes.has_mask || mask[label];
        for (int other = 0; other < k; other++) is_free = is_free && labels[pixel * kKept + other] != label;
        if (is_free) break;
        if (++b_x > right) b_x = left, b_y = b_y == bottom ? top : b_y + 1;
      }
      consider(y, x, b_y, b_x);
    }
  }

  /// Compares with every candidate.
  IRUKA_INLINE void search_all(ptrdiff_t pixel, Sum farthest) {
    const int y = int(pixel / sizes.width), x = int(pixel % sizes.width);
    for (int k = 0; k < kKept; k++) {
      labels[pixel * kKept + k] = -1;
      distances[pixel * kKept + k] = farthest;
    }
    const int bottom = min(sizes.b_height - 1, y + sizes.window_y), right = min(sizes.b_width - 1, x + sizes.window_x);
    for (int b_y = max(0, y - sizes.window_y); b_y <= bottom; b_y++)
      for (int b_x = max(0, x - sizes.window_x); b_x <= right; b_x++) consider(y, x, b_y, b_x);
  }

  /// Tries places around each candidate, at most `radius`, radius / 4... rows and columns away.
  IRUKA_INLINE void search(int y, int x, int radius, unsigned long long number) {
    const ptrdiff_t pixel = ptrdiff_t(y) * sizes.width + x;
    for (int r = radius; r > 0; r /= 4) {
      for (int k = 0; k < kKept; k++) {
        const int label = labels[pixel * kKept + k];
        if (label < 0) break;
        const int b_y = label / sizes.b_width, b_x = label % sizes.b_width;
        const unsigned long long bits = random_bits(seed, number++);
        const int top = max(max(0, b_y - r), y - sizes.window_y);
        const int bottom = min(min(sizes.b_height - 1, b_y + r), y + sizes.window_y);
        const int left = max(max(0, b_x - r), x - sizes.window_x);
        const int right = min(min(sizes.b_width - 1, b_x + r), x + sizes.window_x);
        consider(y, x, random_between(unsigned(bits >> 32), top, bottom), random_between(unsigned(bits), left, right));
      }
    }
  }

  /// Takes over the candidates that pixel (y - y_step, x - x_step) has in `theirs`.
  IRUKA_INLINE void propose(const int* theirs, int y, int x, int y_step, int x_step) {
    const int from_y = y - y_step, from_x = x - x_step;
    if (from_y < 0 || from_y >= sizes.height || from_x < 0 || from_x >= sizes.width) return;
    const int* const found = theirs + (ptrdiff_t(from_y) * sizes.width + from_x) * kKept;
    for (int k = 0; k < kKept; k++) {
      if (found[k] < 0) break;
      consider(y, x, found[k] / sizes.b_width + y_step, found[k] % sizes.b_width + x_step);
    }
  }

  /// Hands candidates on along segment `index`: of a row or of a column, from its first pixel to its last or backwards.
  IRUKA_INLINE void sweep(ptrdiff_t index, int segment, int sweep, bool is_row, bool is_backward) {
    const int lines = is_row ? sizes.height : sizes.width, length = is_row ? sizes.width : sizes.height;
    const int line = int(index % lines), first = int(index / lines) * segment, end = min(length, first + segment);
    const int step = is_backward ? -1 : 1;
    // Half the radii in each sweep.
    const int radius = max(1, max(sizes.b_height, sizes.b_width) >> (sweep / 2 % 2));
    const ptrdiff_t pixels = ptrdiff_t(sizes.height) * sizes.width;
    for (int k = 0; k < end - first; k++) {
      const int at = is_backward ? end - 1 - k : first + k;
      const int y = is_row ? line : at, x = is_row ? at : line;
      // The pixel before it on the segment, and those beside it as they were before the sweep.
      const int y_step = is_row ? 0 : step, x_step = is_row ? step : 0;
      propose(k == 0 ? before : labels, y, x, y_step, x_step);
      propose(before, y, x, x_step, y_step);
      propose(before, y, x, -x_step, -y_step);
      const ptrdiff_t pixel = ptrdiff_t(y) * sizes.width + x;
      search(y, x, radius, ((unsigned long long)(sweep + 1) * pixels + pixel) * 32 * kKept);
    }
  }
};

}  // namespace iruka::image
