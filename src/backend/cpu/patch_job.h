// What the loops of exact patch matching are given (patch_lanes.h). A displacement leads from a pixel of the first
// picture to its candidate in the second one; a label is (dy + the tile's first row) * width + dx in the second
// picture's pixels, so that candidates of one pixel are in scan order by their labels.
#pragma once

#include <cstdint>

#include "core/patch_sweep.h"

namespace iruka::cpu_backend {

/// Some displacements: rows [dy, dy + count) and columns [dx, dx_end).
struct Displacements {
  int64_t dy, count, dx, dx_end;
};

/// Pixels of the first picture, and the candidates that they have kept. All lines are in elements; columns are whole
/// vectors. Pictures have margins, so that a vector and the sums of a patch may leave the second one at both ends.
struct TilePlace {
  int64_t rows, vectors;    ///< up to PatchLoops::most_vectors
  int64_t y, x;             ///< of the first pixel
  int64_t a_line, a_plane;  ///< from row to row, and from one plane of words or channels to the next
  int64_t b_line, b_plane;
  int64_t b_height, b_width;  ///< in patches
  int64_t planes;
  int64_t patch;
  int64_t kept;         ///< candidates of a pixel
  int64_t line, plane;  ///< of the candidates: from row to row, and from one candidate to the next
};

/// Bytes in words of 32 bits. The score of a candidate is 2 ab - |b|^2, which is the larger the nearer it is.
struct ByteTile {
  TilePlace at;
  const int32_t* a;     ///< words of signed numbers, at the tile's first pixel
  const int32_t* b;     ///< words of unsigned numbers, at the second picture's first pixel
  const int32_t* half;  ///< |b|^2 of each patch, halved and rounded down; kNoPatch where there is none
  const int32_t* odd;   ///< what rounding has lost, 0 or 1
  int32_t* least;       ///< half the score that a candidate must reach: the worst one that is kept, rounded up
  int32_t* scores;      ///< best first
  int32_t* labels;
};
inline constexpr int32_t kNoPatch = 805306368, kNoScore = -1073741824, kNoLabel = 2147483647;
/// Bytes of a patch, for which scores are smaller than these.
inline constexpr int64_t kMostPatchBytes = 8000;
/// Rows of displacements at once, which share what is read of the first picture.
inline constexpr int64_t kDisplacementRows = 2;

/// Numbers of one type, whose squared differences are summed: over the channels of a pixel, then over the pixels of a
/// row of the patch from left to right, then over the rows from top to bottom.
template <class T, class Label>
struct NumberTile {
  TilePlace at;
  const T* a;
  const T* b;
  const T* blocked;  ///< added to distances: 0, or `farthest` where there is no patch
  T farthest;        ///< what is no distance: infinity, or a number that is larger than all
  T* distances;      ///< nearest first
  Label* labels;
  T* scratch;  ///< scratch_size() elements
};

/// Pictures of bytes with their borders, channels last, whose patches are read in rows. PatchSweep::kRoom bytes may be
/// read behind them.
struct PatchRows {
  const uint8_t* data;
  int64_t line;          ///< bytes from row to row
  int64_t patch, bytes;  ///< rows of a patch, and bytes of each
  int64_t channels;

  const uint8_t* at(int64_t y, int64_t x) const { return data + y * line + x * channels; }
  int64_t words(int64_t word_numbers) const { return (patch * bytes + word_numbers - 1) / word_numbers; }
};

/// Numbers by which patches are told apart: products with so many patterns.
inline constexpr int64_t kFeatures = 16;
/// Patterns as words of signed numbers, (words, kFeatures).
struct PatchPatterns {
  const int32_t* words;
  int64_t count;  ///< words of a pattern
};

/// Some patches of the second picture, and pixels of the first one to compare with each of them.
struct LeafScan {
  PatchRows a, b;
  int64_t b_width;        ///< in patches
  const int32_t* items;   ///< labels of patches of b, ascending: their numbers in scan order
  int64_t item_count;     ///< up to kMostItems
  const int32_t* pixels;  ///< of a
  int64_t pixel_count, a_width;
  int64_t kept;
  int32_t *scores, *labels;  ///< (pixels of a, kept), nearest first: as in ByteTile, with a label for each
  int32_t* scratch;          ///< leaf_scratch() words
};
inline constexpr int64_t kMostItems = 512;
/// Pixels of the first picture that are compared at once.
inline constexpr int64_t kScanned = 4;
/// Words of memory for a leaf with its squares, and for pixels.
constexpr int64_t leaf_scratch(int64_t words) { return (kMostItems + kScanned + 1) * (words + 16) + 2 * kMostItems; }

/// The loops of one instruction set.
struct PatchLoops {
  int64_t lanes;         ///< words of a vector
  int64_t word_numbers;  ///< of a word: 4 bytes, or 2 numbers of 16 bits
  int64_t most_patch;    ///< for bytes
  int64_t most_vectors;  ///< of a tile of bytes
  void (*bytes)(const ByteTile&, const Displacements&);
  void (*floats)(const NumberTile<float, int32_t>&, const Displacements&);
  void (*doubles)(const NumberTile<double, int64_t>&, const Displacements&);
  void (*integers)(const NumberTile<int32_t, int32_t>&, const Displacements&);
  void (*long_integers)(const NumberTile<int64_t, int64_t>&, const Displacements&);
  /// The same for integers that doubles hold exactly.
  void (*exact_doubles)(const NumberTile<double, int64_t>&, const Displacements&);
  /// Segments [begin, end) of a sweep over unsigned bytes.
  void (*sweep)(const PatchSweep&, int64_t begin, int64_t end);
  /// The features of the patches of `count` pixels from (y, x) on, (count, kFeatures). `scratch` has a patch's words.
  void (*features)(const PatchRows&, const PatchPatterns&, int64_t y, int64_t x, int64_t count, int32_t* scratch,
                   int32_t* features);
  void (*scan)(const LeafScan&);
};
/// Those of the widest vectors that the processor has and IRUKA_CPU_LEVEL allows.
const PatchLoops& patch_loops();

/// Vectors of a tile of numbers.
inline constexpr int64_t kNumberVectors = 4;
/// Elements of scratch memory for the rows of a patch: its pixels, and sums of each row.
constexpr int64_t scratch_size(int64_t patch, int64_t lanes) {
  const int64_t row = (kNumberVectors + 2) * lanes + patch;
  return 3 * row + patch * kNumberVectors * lanes;
}

namespace baseline {
extern const PatchLoops patch_loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const PatchLoops patch_loops;
}
namespace avx512 {
extern const PatchLoops patch_loops;
}
namespace avx512_vnni {
extern const PatchLoops patch_loops;
}
#endif

}  // namespace iruka::cpu_backend
