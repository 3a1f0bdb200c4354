// Exact nearest patches of bytes by dot products of four bytes. |a - b|^2 is |a|^2 + |b|^2 - 2 ab.
#pragma once

namespace iruka::image {

/// Pictures with their borders, as words of four signed bytes: `planes` words for each pixel.
struct ByteMatching {
  const int *a, *b;
  const int *a_squares, *b_squares;  ///< |a|^2 and |b|^2 of each patch; kBlocked where there may be no neighbour
  int height, width, b_height, b_width;
  int window_y, window_x;
  int parts;  ///< of b, each of which has candidates of its own
};
constexpr int kBlocked = 1 << 30;

/// Word `number` of the patch at pixel (y, x) of a picture.
template <int kPatch, int kPlanes> IRUKA_INLINE int patch_word(const int* words, int width, int y, int x, int number) {
  constexpr int kRow = kPatch * kPlanes;
  const ptrdiff_t row = ptrdiff_t(y + number / kRow) * (width + kPatch - 1);
  return words[(row + x) * kPlanes + number % kRow];
}

/// The sum of the squares of the bytes of the patch at pixel `i`.
template <int kPatch, int kPlanes> IRUKA_INLINE int patch_squares(const int* words, int width, ptrdiff_t i) {
  int sum = 0;
  for (int k = 0; k < kPatch * kPatch * kPlanes; k++) {
    const int word = patch_word<kPatch, kPlanes>(words, width, int(i / width), int(i % width), k);
    sum = __dp4a(word, word, sum);
  }
  return sum;
}

/// Puts a candidate among those that are kept, nearest first. Candidates come in scan order.
template <int kKept, class Sum> IRUKA_INLINE void keep(Sum (&least)[kKept], int (&labels)[kKept], Sum distance,
                                                       int label) {
  if (!(distance < least[kKept - 1])) return;
#pragma unroll
  for (int k = kKept - 1; k > 0; k--) {
    const bool is_behind = distance < least[k - 1];
    labels[k] = is_behind ? labels[k - 1] : distance < least[k] ? label : labels[k];
    least[k] = is_behind ? least[k - 1] : distance < least[k] ? distance : least[k];
  }
  if (distance < least[0]) least[0] = distance, labels[0] = label;
}

/// Words of a patch in a block's shared memory, with its square, in whole loads of four words.
constexpr int patch_line(int words) { return (words + 1 + 3) / 4 * 4; }

/// A thread has one pixel of a, whose patch stays in registers, and compares it with the patches of one part of b, of
/// which `tile`, the block's shared memory, holds kTile at a time. Writes |b|^2 - 2 ab and labels, (parts, kKept,
/// pixels). `wait` is the block's barrier.
template <int kPatch, int kPlanes, int kKept, int kThreads, int kTile, bool kHasWindow, class Wait>
IRUKA_INLINE void match_part(const ByteMatching& job, int block, int part, int thread, int* tile, Wait wait,
                             int* distances, int* labels) {
  constexpr int kWords = kPatch * kPatch * kPlanes, kLine = patch_line(kWords);
  const int pixels = job.height * job.width, pixel = block * kThreads + thread;
  const int own = min(pixel, pixels - 1), y = own / job.width, x = own % job.width;
  const ptrdiff_t all = ptrdiff_t(job.b_height) * job.b_width;
  const int first = int(all * part / job.parts), end = int(all * (part + 1) / job.parts);
  int words[kWords], least[kKept], found[kKept];
#pragma unroll
  for (int k = 0; k < kWords; k++) words[k] = patch_word<kPatch, kPlanes>(job.a, job.width, y, x, k);
#pragma unroll
  for (int k = 0; k < kKept; k++) least[k] = kBlocked / 2, found[k] = -1;
  for (int base = first; base < end; base += kTile) {
    const int count = min(kTile, end - base);
    wait();
    for (int k = thread; k < count * (kWords + 1); k += kThreads) {
      const int candidate = base + k / (kWords + 1), word = k % (kWords + 1);
      tile[k / (kWords + 1) * kLine + word] =
          word == kWords
              ? job.b_squares[candidate]
              : patch_word<kPatch, kPlanes>(job.b, job.b_width, candidate / job.b_width, candidate % job.b_width, word);
    }
    wait();
    for (int k = 0; k < count; k++) {
      const int* const theirs = tile + k * kLine;
      int product = 0;
#pragma unroll
      for (int word = 0; word < kWords; word++) product = __dp4a(words[word], theirs[word], product);
      const int distance = theirs[kWords] - 2 * product;
      if (kHasWindow) {
        const int candidate = base + k;
        if (abs(candidate / job.b_width - y) > job.window_y || abs(candidate % job.b_width - x) > job.window_x)
          continue;
      }
      keep<kKept>(least, found, distance, base + k);
    }
  }
  if (pixel >= pixels) return;
#pragma unroll
  for (int k = 0; k < kKept; k++) {
    const ptrdiff_t place = (ptrdiff_t(part) * kKept + k) * pixels + pixel;
    distances[place] = least[k];
    labels[place] = found[k];
  }
}

/// The nearest candidates of pixel `i` among those of all parts.
template <int kKept, class Result>
IRUKA_INLINE void merge_parts(const ByteMatching& job, const int* distances, const int* labels, ptrdiff_t i, int* field,
                              Result* result) {
  const ptrdiff_t pixels = ptrdiff_t(job.height) * job.width;
  int least[kKept], found[kKept];
  for (int k = 0; k < kKept; k++) least[k] = kBlocked / 2, found[k] = -1;
  for (int part = 0; part < job.parts * kKept; part++)
    keep<kKept>(least, found, distances[part * pixels + i], labels[part * pixels + i]);
  for (int k = 0; k < kKept; k++) {
    const bool is_found = found[k] >= 0;
    field[2 * (i * kKept + k)] = is_found ? found[k] / job.b_width : -1;
    field[2 * (i * kKept + k) + 1] = is_found ? found[k] % job.b_width : -1;
    result[i * kKept + k] = is_found ? Result(least[k]) + job.a_squares[i] : Result(0x7fffffffffffffffLL);
  }
}

/// The words of a picture with its border. `least` is subtracted, so that a byte is from -128 to 127.
template <int kPlanes, class T>
IRUKA_INLINE int word_of(const T* picture, int channels, int centre, ptrdiff_t i) {
  unsigned word = 0;
  for (int k = 0; k < 4; k++) {
    const int channel = int(i % kPlanes) * 4 + k;
    const int value = channel < channels ? int(picture[i / kPlanes * channels + channel]) - centre : 0;
    word |= (unsigned(value) & 255u) << (8 * k);
  }
  return int(word);
}

}  // namespace iruka::image
