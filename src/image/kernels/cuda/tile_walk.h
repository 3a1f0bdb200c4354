// Exact nearest patches of bytes on tensor cores.
//
// A warp has a tile: kTileRows neighbouring pixels of a row of a, and kTileColumns of a row of b. It walks down both
// pictures at one displacement of rows. One product of matrices adds the products of a row of each patch to the sums of
// the tile's pairs, another one takes away the row that the patches leave. Patches of neighbouring pixels overlap, so
// that factors are words of the picture themselves, and a lane's words serve as lines of several factors: line g of
// factor i is the patch at pixel 8 g + i of the tile.
//
// Sums are half of a score, rounded up. A tile is looked at closely only where the largest half of a pixel may
// exceed what is known of the pixel.
#pragma once

#include "image/kernels/nearest_tiles.h"

// A GPU's registers have no indices. Without tensor cores loops are short code.
#ifdef __CUDA_ARCH__
#define IRUKA_TILE_UNROLL _Pragma("unroll")
#else
#define IRUKA_TILE_UNROLL _Pragma("clang loop unroll(disable)")
#endif

namespace iruka::image {

/// sum += a b for 16 rows of a and 8 columns of b of 4 or 8 words, as the instructions divide them among the lanes.
template <int kHalves>
IRUKA_INLINE void multiply(int (&sum)[4], const int (&a)[2 * kHalves], const int (&b)[kHalves]) {
#ifdef __CUDA_ARCH__
  if constexpr (kHalves == 2)
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#else  // the same without the instruction
  const int lane = threadIdx.x % 32;
  for (int half = 0; half < kHalves; half++)
    for (int k = 0; k < 4; k++) {
      const int of_a[2] = {__shfl_sync(~0u, a[2 * half], lane / 4 * 4 + k),
                           __shfl_sync(~0u, a[2 * half + 1], lane / 4 * 4 + k)};
      const int of_b[2] = {__shfl_sync(~0u, b[half], lane % 4 * 8 + k),
                           __shfl_sync(~0u, b[half], lane % 4 * 8 + 4 + k)};
      for (int at = 0; at < 4; at++)
        for (int bits = 0; bits < 32; bits += 8)
          sum[at] += (of_a[at / 2] << (24 - bits) >> 24) * int((unsigned)of_b[at % 2] >> bits & 255u);
    }
#endif
}

/// Words that lie next to each other and are loaded together.
template <int kWords> struct alignas(4 * kWords) WordVector {
  int at[kWords];
};
template <int kWords, int kCount> IRUKA_INLINE void load_words(const int* from, int (&to)[kCount]) {
  static_assert(kCount % kWords == 0);
  IRUKA_TILE_UNROLL
  for (int k = 0; k < kCount / kWords; k++) {
    const WordVector<kWords> vector = ((const WordVector<kWords>*)from)[k];
    IRUKA_TILE_UNROLL
    for (int w = 0; w < kWords; w++) to[kWords * k + w] = vector.at[w];
  }
}

/// A lane's words of a row of eight patches, those of its lines of the factors: words kHalves (lane % 4) + half of the
/// patch at pixel 8 (lane / 4) + i.
template <class Kind> struct LaneWords {
  static constexpr int kStep = Kind::kHalves * Kind::kPixels;  ///< from lane to lane
  static constexpr int kVector = kStep < 4 ? kStep : 4;
  static constexpr int kNeeded = 8 + (Kind::kHalves - 1) * Kind::kPixels;
  /// Instructions take pairs of registers. Where the pairs of neighbouring lines overlap, every second one comes from
  /// the copy of the picture, without moves between registers.
  static constexpr int kCount = Kind::kHasCopy ? 8 : (kNeeded + kVector - 1) / kVector * kVector;
  int words[kCount], behind[Kind::kHasCopy ? 8 : 1];

  static IRUKA_INLINE int offset() { return int(threadIdx.x % 32 / 4 * 8 + threadIdx.x % 4 * kStep); }
  /// From the lane's first word on; the copy is `copy` words behind.
  IRUKA_INLINE void load(const int* from, int copy) {
    load_words<kVector>(from, words);
    if constexpr (Kind::kHasCopy) load_words<kVector>(from + copy, behind);
  }
  IRUKA_INLINE int at(int i, int half) const {
    if (Kind::kHasCopy && i % 2 == 1) return behind[i - 1 + half];
    return words[i + half * Kind::kPixels];
  }
  /// Register k of a factor of 16 lines, of which the lane has lines 2 i and 2 i + 1: both of each half.
  IRUKA_INLINE int of_lines(int i, int k) const {
    if (Kind::kHasCopy && k >= 2) return behind[2 * i + k % 2];
    return words[2 * i + k % 2 + k / 2 * Kind::kPixels];
  }
};

/// What a lane has of the factors of a row of patches.
template <class Kind> struct LaneFactors {
  static constexpr int kRows = kTileRows / 16, kColumns = kTileColumns / 8;
  int a[kRows][2 * Kind::kHalves], b[kColumns][Kind::kHalves];

  /// Chunk `chunk` of a row that is added, or taken away with the sum of b's numbers. Both pictures' words are those of
  /// the lane.
  template <bool kIsRemoved>
  IRUKA_INLINE void load(const TileMatching& job, const int* from_a, const int* from_b, int chunk) {
    const int word = chunk % Kind::kChunks * 8;
    LaneWords<Kind> words_a, words_b;
    words_a.load(from_a + chunk / Kind::kChunks * job.a_plane + word * Kind::kPixels, job.a_copy);
    words_b.load(from_b + chunk / Kind::kChunks * job.b_plane + word * Kind::kPixels, job.b_copy);
    IRUKA_TILE_UNROLL
    for (int half = 0; half < Kind::kHalves; half++) {
      const bool is_whole = word + 3 * Kind::kHalves + half < Kind::kWholeWords;
      const unsigned mask =
          is_whole ? ~0u : Kind::mask(word + int(threadIdx.x % 4) * Kind::kHalves + half);  // a lane's constant
      IRUKA_TILE_UNROLL
      for (int n = 0; n < kColumns; n++) b[n][half] = words_b.at(n, half) & int(mask);
    }
    IRUKA_TILE_UNROLL
    for (int i = 0; i < kRows; i++) IRUKA_TILE_UNROLL
    for (int k = 0; k < 2 * Kind::kHalves; k++)
      a[i][k] = kIsRemoved ? ~words_a.of_lines(i, k) : words_a.of_lines(i, k);  // ~x is -x - 1 of each byte
  }
};

/// Pixels of a and of b that a lane has.
constexpr int kLaneRows = kTileRows / 8, kLaneColumns = 2 * kTileColumns / 8;

/// The sums of a warp. A lane has pixels 8 (lane / 4) + i of a tile's rows, and 16 (lane % 4) + m of its columns.
template <class Kind> struct TileSums {
  using Factors = LaneFactors<Kind>;
  static constexpr int kInstructions = Kind::kPlanes * Kind::kChunks;  ///< for a row of a patch
  int at[Factors::kRows][Factors::kColumns][4];

  /// Adds the products of a row of each patch, or takes away them and the sum of b's numbers.
  template <bool kIsRemoved> IRUKA_INLINE void add(const TileMatching& job, const int* a, const int* b) {
    IRUKA_TILE_UNROLL
    for (int chunk = 0; chunk < kInstructions; chunk++) {
      Factors row;
      row.template load<kIsRemoved>(job, a, b, chunk);
      IRUKA_TILE_UNROLL
      for (int i = 0; i < Factors::kRows; i++) IRUKA_TILE_UNROLL
      for (int n = 0; n < Factors::kColumns; n++) multiply<Kind::kHalves>(at[i][n], row.a[i], row.b[n]);
    }
  }

  /// Goes on to the next row, `steps` of the lane's columns. Where rows are short, one instruction takes a row away and
  /// adds another.
  IRUKA_INLINE void step(const TileMatching& job, const int* a, const int* b, const int* steps) {
    int own[kLaneColumns];
    load_words<4>(steps, own);
    IRUKA_TILE_UNROLL
    for (int m = 0; m < kLaneColumns; m++) IRUKA_TILE_UNROLL
    for (int i = 0; i < kLaneRows; i++) pair(i, m) += own[m];
    const int *const next_a = a + ptrdiff_t(Kind::kPatch) * job.a_line, *const next_b =
                                                                            b + ptrdiff_t(Kind::kPatch) * job.b_line;
    if constexpr (Kind::kHalves == 2) {
      add<true>(job, a, b);
      add<false>(job, next_a, next_b);
    } else {
      IRUKA_TILE_UNROLL
      for (int chunk = 0; chunk < kInstructions; chunk++) {
        Factors left, next;
        left.template load<true>(job, a, b, chunk);
        next.template load<false>(job, next_a, next_b, chunk);
        IRUKA_TILE_UNROLL
        for (int i = 0; i < Factors::kRows; i++) IRUKA_TILE_UNROLL
        for (int n = 0; n < Factors::kColumns; n++)
          multiply<2>(at[i][n], {left.a[i][0], left.a[i][1], next.a[i][0], next.a[i][1]}, {left.b[n][0], next.b[n][0]});
      }
    }
  }

  /// Of the lane's pixels i of a and m of b.
  IRUKA_INLINE int& pair(int i, int m) { return at[i / 2][m % 8][i % 2 * 2 + m / 8]; }
};

/// The largest of each row of a tile, of which lane % 4 chooses two: pixels 8 (lane / 4) + i of i = rows_of_lane() and
/// the next one. `most` has those of the lane's columns.
IRUKA_INLINE int rows_of_lane() { return int(threadIdx.x % 2 * 4 + threadIdx.x % 4 / 2 * 2); }
IRUKA_INLINE void reduce_rows(const int (&most)[8], int (&of_lane)[2]) {
  const bool is_odd = threadIdx.x % 2, is_high = threadIdx.x % 4 / 2;
  int four[4];
  IRUKA_TILE_UNROLL
  for (int k = 0; k < 4; k++) {
    const int theirs = __shfl_xor_sync(~0u, is_odd ? most[k] : most[k + 4], 1);
    four[k] = max(is_odd ? most[k + 4] : most[k], theirs);
  }
  IRUKA_TILE_UNROLL
  for (int k = 0; k < 2; k++) {
    const int theirs = __shfl_xor_sync(~0u, is_high ? four[k] : four[k + 2], 2);
    of_lane[k] = max(is_high ? four[k + 2] : four[k], theirs);
  }
}

/// Looks for the nearest candidate in one row of a tile, `i`, and writes it for the pixels that `hits` names by the
/// lanes that have them.
template <class Kind>
IRUKA_INLINE void keep_row(TileSums<Kind>& sums, int i, unsigned hits, const int* squares, int label,
                           unsigned long long* nearest) {
  int score = kNoScore, place = 0, own_squares[kLaneColumns];
  load_words<4>(squares, own_squares);
  IRUKA_TILE_UNROLL
  for (int m = 0; m < kLaneColumns; m++) {
    const int found = 2 * sums.pair(i, m) - (own_squares[m] & 1);
    if (found > score) score = found, place = m;
  }
  unsigned long long key = tile_key(score, label + place);
  IRUKA_TILE_UNROLL
  for (int by = 1; by < 4; by *= 2) {
    const unsigned long long theirs = __shfl_xor_sync(~0u, key, by);
    key = theirs > key ? theirs : key;
  }
  if (hits >> threadIdx.x % 32 & 1u) atomicMax(nearest, key);
}

/// A warp's walk: rows of a from `first` on, columns from `x` on, and b's columns from `b_x` on, `dy` rows below.
template <class Kind>
IRUKA_INLINE void walk_tile(const TileMatching& job, int first, int end, int x, int b_x, int dy) {
  const int lane = threadIdx.x % 32;
  const int* a = job.a + ptrdiff_t(first) * job.a_line + x + LaneWords<Kind>::offset();
  const int* b = job.b + ptrdiff_t(first + dy) * job.b_line + b_x + LaneWords<Kind>::offset();
  ptrdiff_t place = ptrdiff_t(first + dy) * job.columns + b_x + lane % 4 * kLaneColumns;
  TileSums<Kind> sums;
  int halves[kLaneColumns];
  load_words<4>(job.halves + place, halves);
  IRUKA_TILE_UNROLL
  for (int m = 0; m < kLaneColumns; m++) IRUKA_TILE_UNROLL
  for (int i = 0; i < 8; i++) sums.pair(i, m) = halves[m];
#pragma unroll 1
  for (int k = 0; k < Kind::kPatch; k++)
    sums.template add<false>(job, a + ptrdiff_t(k) * job.a_line, b + ptrdiff_t(k) * job.b_line);
  const int row = rows_of_lane(), own_x = x + lane / 4 * 8 + row;
  unsigned long long* nearest = job.nearest + ptrdiff_t(first) * job.width + own_x;
#pragma unroll 1
  for (int y = first;; y++) {
    int least[2] = {0x7ffffffe, 0x7ffffffe};
    IRUKA_TILE_UNROLL
    for (int k = 0; k < 2; k++)  // others write while this warp reads, past the nearest cache
      if (own_x + k < job.width) least[k] = score_of(*(volatile const unsigned long long*)(nearest + k));
    int most[8], of_lane[2];
    IRUKA_TILE_UNROLL
    for (int i = 0; i < 8; i++) {
      most[i] = sums.pair(i, 0);
      IRUKA_TILE_UNROLL
      for (int m = 1; m < kLaneColumns; m++) most[i] = max(sums.pair(i, m), most[i]);
    }
    reduce_rows(most, of_lane);
    // Equal halves may be a larger score, or one of a candidate that is first in scan order.
    const unsigned hits[2] = {__ballot_sync(~0u, of_lane[0] >= (least[0] + 1) >> 1),
                              __ballot_sync(~0u, of_lane[1] >= (least[1] + 1) >> 1)};
    if (hits[0] | hits[1]) {
      IRUKA_TILE_UNROLL
      for (int i = 0; i < 8; i++) {
        // The lanes of the row: i is 4 (lane % 2) + 2 (lane % 4 / 2), or the next number.
        const unsigned of_row = hits[i % 2] & (0x11111111u << (i / 4 + i / 2 % 2 * 2));
        if (of_row)
          keep_row(sums, i, of_row, job.squares + place, (y + dy) * job.b_width + b_x + lane % 4 * kLaneColumns,
                   nearest + i % 2);
      }
    }
    if (y + 1 == end) break;
    sums.step(job, a, b, job.steps + place);
    a += job.a_line;
    b += job.b_line;
    place += job.columns;
    nearest += job.width;
  }
}

/// Block (x, y) of a grid: x names a tile's columns and band, and y the first displacement and columns of b.
template <class Kind> IRUKA_INLINE void match_tiles(const TileMatching& job) {
  const int a_tiles = (job.width + kTileRows - 1) / kTileRows, b_tiles = job.columns / kTileColumns;
  const int top = int(blockIdx.x) / a_tiles * job.band, bottom = min(top + job.band, job.height);
  const int displacements = job.band - 1 + job.b_height;
  const long long walks = (long long)displacements * b_tiles;
  for (long long walk = (long long)blockIdx.y * kTileWarps + threadIdx.x / 32; walk < walks;
       walk += (long long)gridDim.y * kTileWarps) {
    const int dy = int(walk / b_tiles * job.step % displacements) - (top + job.band - 1);
    const int first = max(top, -dy), end = min(bottom, job.b_height - dy);
    if (first < end)
      walk_tile<Kind>(job, first, end, int(blockIdx.x) % a_tiles * kTileRows, int(walk % b_tiles) * kTileColumns, dy);
  }
}

}  // namespace iruka::image
