// What exact matching of bytes on tensor cores (cuda/tile_walk.h) is given, and what becomes of its result.
// |a - b|^2 is |a|^2 + |b|^2 - 2 ab. The score of a candidate is 2 ab - |b|^2, the larger the nearer.
#pragma once

#include "image/kernels/reconstruct.h"

namespace iruka::image {

/// How a picture's bytes lie in words of four: pixels of up to two channels share a word, and pixels of many channels
/// have words in several planes.
template <int kPatchSize, int kChannels> struct TileKind {
  static constexpr int kPatch = kPatchSize;
  static constexpr int kPixels = kChannels == 1 ? 4 : kChannels == 2 ? 2 : 1;  // of a word
  static constexpr int kPlanes = (kChannels + 3) / 4;
  static constexpr int kWords = (kPatch + kPixels - 1) / kPixels;  // of a row of a patch in a plane
  static constexpr int kHalves = kWords > 4 ? 2 : 1;               // an instruction multiplies by 4 words or by 8
  static constexpr int kChunks = (kWords + 7) / 8;                 // instructions for a plane
  static constexpr int kWholeWords = kPatch / kPixels;
  /// Whether behind a picture's words lies a copy that begins with its second word.
  static constexpr bool kHasCopy = kHalves == 2 && kPixels == 1;

  /// The bits of word `number` of a row that belong to the patch.
  static constexpr unsigned mask(int number) {
    const int bytes = (kPatch - number * kPixels) * (4 / kPixels);
    return bytes >= 4 ? ~0u : bytes <= 0 ? 0u : ~0u >> (32 - 8 * bytes);
  }
};

constexpr int kTileRows = 64, kTileColumns = 64;  // of a warp's sums
constexpr int kTileWarps = 4;                     // of a block
/// Words that may be read behind the last tile of a line.
constexpr int kTileSlack = 64;
/// Half of the score of what may be no neighbour; a score that is less than all others.
constexpr int kBlockedHalf = -(1 << 29), kNoScore = -(1 << 28);

struct TileMatching {
  const int *a, *b;             ///< words of signed bytes and of unsigned ones, (planes, rows, line)
  const int* squares;           ///< |b|^2 - 256 sum(b) of each patch of b, (b_height, columns)
  const int* halves;            ///< minus half of these, or kBlockedHalf: what products lack for half a score
  const int* steps;             ///< what sums lack when they go on to the next row
  unsigned long long* nearest;  ///< the score of each pixel of a, then its label so that the first is the largest
  int height, width, b_height, b_width;
  int a_line, b_line, a_plane, b_plane;
  int a_copy, b_copy;  ///< words from a picture to its copy
  int columns;         ///< of squares, halves and steps
  int band;            ///< rows of a that a warp walks
  int step;            ///< from displacement to displacement, so that neighbouring ones are far apart in time
};

IRUKA_INLINE unsigned long long tile_key(int score, int label) {
  return (unsigned long long)((unsigned)score ^ 0x80000000u) << 32 | ~(unsigned)label;
}
IRUKA_INLINE int score_of(unsigned long long key) { return int(unsigned(key >> 32) ^ 0x80000000u); }

/// A picture without its border, which begins `before` pixels in front of it, and its words, (planes, rows, line).
struct TilePicture {
  int height, width, channels, before;
  int rows, line;
  int flip;  ///< what makes signed bytes of unsigned ones and the reverse, or 0
};

/// Word `i` of a picture.
template <class Kind, int kBorder, class T>
IRUKA_INLINE int tile_word(const TilePicture& job, const T* picture, ptrdiff_t i) {
  const int x = int(i % job.line), y = int(i / job.line % job.rows), plane = int(i / job.line / job.rows);
  const int row = place_within(kBorder, y - job.before, job.height);
  unsigned word = 0;
  for (int k = 0; k < 4; k++) {
    const int pixel = x + (Kind::kPixels > 1 ? k / job.channels : 0);
    const int channel = Kind::kPixels > 1 ? k % job.channels : plane * 4 + k;
    if (channel >= job.channels) continue;
    const int column = place_within(kBorder, pixel - job.before, job.width);
    const bool is_inside = row >= 0 && column >= 0;
    const int value = is_inside ? int(picture[(ptrdiff_t(row) * job.width + column) * job.channels + channel]) : 0;
    word |= unsigned((value ^ job.flip) & 255) << (8 * k);
  }
  return int(word);
}

/// Calls `use(word)` for the words of row `y` of the patch at column `x`, without the bytes that are not the patch's.
template <class Kind, class Use>
IRUKA_INLINE void each_row_word(const int* words, int rows, int line, int y, int x, Use&& use) {
  for (int plane = 0; plane < Kind::kPlanes; plane++)
    for (int k = 0; k < Kind::kWords; k++)
      use(int(words[(ptrdiff_t(plane) * rows + y) * line + x + k * Kind::kPixels] & Kind::mask(k)));
}
IRUKA_INLINE unsigned sum_of_bytes(unsigned word) { return __dp4a(word, 0x01010101u, 0u); }

/// |b|^2 - 256 sum(b) of the patch at pixel (y, x) of b, and the sum of its first row.
template <class Kind>
IRUKA_INLINE void patch_terms(const int* b, int rows, int line, int y, int x, int* squares, int* row_sum) {
  unsigned square = 0;
  int first = 0, sum = 0;
  for (int k = 0; k < Kind::kPatch; k++) {
    each_row_word<Kind>(b, rows, line, y + k, x, [&](int word) {
      square = __dp4a((unsigned)word, (unsigned)word, square);
      sum += int(sum_of_bytes((unsigned)word));
    });
    if (k == 0) first = sum;
  }
  *squares = int(square) - 256 * sum;
  *row_sum = first;
}

/// Element `i` of `halves`, and of `steps`, which has the sum of the first row at first. `mask` may be null.
IRUKA_INLINE void finish_terms(const int* squares, const bool* mask, int b_height, int b_width, int columns,
                               ptrdiff_t i, int* halves, int* steps) {
  const int x = int(i % columns), y = int(i / columns);
  const auto half = [&](int row) {
    const bool is_allowed = x < b_width && (!mask || mask[ptrdiff_t(row) * b_width + x]);
    return is_allowed ? -(squares[ptrdiff_t(row) * columns + x] >> 1) : kBlockedHalf;
  };
  halves[i] = half(y);
  if (y + 1 < b_height) steps[i] += half(y + 1) - half(y);
}

/// Writes the neighbour of pixel `i` of a, and its distance.
template <class Kind, class Result>
IRUKA_INLINE void write_nearest(const int* a, int rows, int line, int width, int b_width, int numbers,
                                unsigned long long key, ptrdiff_t i, int* field, Result* distances) {
  const bool is_found = score_of(key) > kNoScore;
  const int label = int(~unsigned(key));
  field[2 * i] = is_found ? label / b_width : -1;
  field[2 * i + 1] = is_found ? label % b_width : -1;
  // |a|^2 of the numbers as they are in b, which are larger by 128.
  int square = 16384 * numbers;
  for (int k = 0; k < Kind::kPatch; k++)
    each_row_word<Kind>(a, rows, line, int(i / width) + k, int(i % width),
                        [&](int word) { square = __dp4a(word, word, square) + 256 * __dp4a(word, 0x01010101, 0); });
  distances[i] = is_found ? Result(square) - score_of(key) : Result(0x7fffffffffffffffLL);
}

}  // namespace iruka::image
