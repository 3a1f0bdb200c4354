// The loops of exact patch matching. A source file for each instruction set includes this one, within a namespace of
// its own; so it uses no function of the standard library.
//
// Lanes are neighbouring pixels of the first picture at one displacement. Patches of neighbours overlap, so that
// products of pixels are summed along a row of the patch by shifting vectors, and over its rows by a running sum.
#include <stddef.h>

#include <utility>

#include "backend/cpu/patch_job.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

// What kernels are given by their language.
#define IRUKA_INLINE inline __attribute__((always_inline))
namespace iruka::image {
IRUKA_INLINE int max(int x, int y) { return x > y ? x : y; }
IRUKA_INLINE int min(int x, int y) { return x < y ? x : y; }
IRUKA_INLINE int abs(int x) { return x < 0 ? -x : x; }
}  // namespace iruka::image
#include "core/kernels/patch_search.h"

namespace iruka::cpu_backend::IRUKA_PATCH_TARGET {
namespace {

#define IRUKA_PATCH_INLINE inline __attribute__((always_inline))
#define IRUKA_PATCH_LAMBDA __attribute__((always_inline))

constexpr int kBytes = IRUKA_PATCH_BYTES;
constexpr int kDisplaced = kDisplacementRows;

#include "backend/cpu/vector_lanes.h"

template <class T>
using PatchLanes = Lanes<T, kBytes>;
using Words = PatchLanes<int32_t>;
using Word = Words::Vector;

/// Lane i becomes lane i + kBy of the two vectors' lanes.
template <int kBy>
IRUKA_PATCH_INLINE Word shifted(Word v, Word next) {
  if constexpr (kBy == 0) return v;
  if constexpr (kBy >= Words::count) return next;
  return [&]<int... k>(std::integer_sequence<int, k...>) IRUKA_PATCH_LAMBDA {
    return __builtin_shufflevector(v, next, (k + kBy)...);
  }(std::make_integer_sequence<int, Words::count>());
}

/// Adds the products of a word's numbers: 4 bytes where there is an instruction for it, else 2 numbers of 16 bits.
IRUKA_PATCH_INLINE Word add_products(Word sum, Word b, Word a) {
#if defined(__AVX512VNNI__)
  return (Word)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)b, (__m512i)a);
#elif defined(__AVX512BW__)
  return sum + (Word)_mm512_madd_epi16((__m512i)b, (__m512i)a);
#elif defined(__AVX2__)
  return sum + (Word)_mm256_madd_epi16((__m256i)b, (__m256i)a);
#elif defined(__SSE2__)
  return sum + (Word)_mm_madd_epi16((__m128i)b, (__m128i)a);
#else
  return sum + ((b << 16) >> 16) * ((a << 16) >> 16) + (b >> 16) * (a >> 16);
#endif
}
#if defined(__AVX512VNNI__)
constexpr int kWordNumbers = 4;
#else
constexpr int kWordNumbers = 2;
#endif
/// Planes of words of pictures of up to four channels, whose products are added in registers.
constexpr int kFewPlanes = 4 / kWordNumbers;

IRUKA_PATCH_INLINE bool is_any(Word mask) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask((__m512i)mask) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#elif defined(__SSE2__)
  return _mm_movemask_epi8((__m128i)mask) != 0;
#else
  return __builtin_reduce_or(mask) != 0;
#endif
}

/// sums[j] = v[j] + v[j] shifted by kStep + ... of kCount vectors, by sums of pairs.
template <int kCount, int kStep, int kVectors>
IRUKA_PATCH_INLINE void add_neighbours(const Word (&v)[kVectors + 1], Word (&sums)[kVectors]) {
  if constexpr (kCount == 1) {
    repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA { sums[j.value] = v[j.value]; });
  } else if constexpr (kCount <= 3) {
    repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA {
      sums[j.value] = v[j.value] + shifted<kStep>(v[j.value], v[j.value + 1]);
      if constexpr (kCount == 3) sums[j.value] += shifted<2 * kStep>(v[j.value], v[j.value + 1]);
    });
  } else {
    Word pairs[kVectors + 1];
    repeat<kVectors>(
        [&](auto j) IRUKA_PATCH_LAMBDA { pairs[j.value] = v[j.value] + shifted<kStep>(v[j.value], v[j.value + 1]); });
    // Lanes that would need a further vector are not used.
    pairs[kVectors] = v[kVectors] + shifted<kStep>(v[kVectors], v[kVectors]);
    add_neighbours<kCount / 2, 2 * kStep, kVectors>(pairs, sums);
    if constexpr (kCount % 2)
      repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA {
        sums[j.value] += shifted<(kCount - 1) * kStep>(v[j.value], v[j.value + 1]);
      });
  }
}

/// Puts a candidate of each lane in the place of one that is kept, if it is nearer: of equal ones the first in scan
/// order is. `place` counts from the tile's first pixel. The candidate becomes the one that is not kept there.
IRUKA_PATCH_INLINE void exchange(const ByteTile& tile, int64_t place, Word& score, Word& label) {
  const Word other = Words::load(tile.scores + place), other_label = Words::load(tile.labels + place);
  const Word is_nearer = (score > other) | ((score == other) & (label < other_label));
  Words::store(is_nearer ? score : other, tile.scores + place);
  Words::store(is_nearer ? label : other_label, tile.labels + place);
  score = is_nearer ? other : score;
  label = is_nearer ? other_label : label;
}
__attribute__((noinline)) void exchange_all(const ByteTile& tile, int64_t place, Word score, Word label) {
  for (int64_t k = 0; k < tile.at.kept; ++k, place += tile.at.plane) exchange(tile, place, score, label);
}
/// One candidate of each pixel needs no call, for which vectors would leave their registers.
IRUKA_PATCH_INLINE void keep(const ByteTile& tile, int64_t place, Word score, int32_t label) {
  Word labels = Words::all(label);
  // Flat pictures have many candidates that are as near as the worst one that is kept, but behind it.
  const int64_t last = place + (tile.at.kept - 1) * tile.at.plane;
  const Word worst = Words::load(tile.scores + last), worst_label = Words::load(tile.labels + last);
  if (!is_any((score > worst) | ((score == worst) & (labels < worst_label)))) return;
  if (__builtin_expect(tile.at.kept == 1, 1))
    exchange(tile, place, score, labels);
  else
    exchange_all(tile, place, score, labels);
}

/// The products of pixels of many channels, for each row of displacements and vector.
template <int kVectors>
__attribute__((noinline)) void multiply_planes(const ByteTile& tile, const int32_t* a, const int32_t* b,
                                               Word (&sums)[kDisplaced][kVectors + 1]) {
  repeat<kVectors + 1>([&](auto j) IRUKA_PATCH_LAMBDA {
    constexpr int64_t kAt = j.value * Words::count;
    Word sum[kDisplaced]{};
    for (int64_t plane = 0; plane < tile.at.planes; ++plane) {
      const Word of_a = Words::load(a + plane * tile.at.a_plane + kAt);
      repeat<kDisplaced>([&](auto d) IRUKA_PATCH_LAMBDA {
        const int32_t* const of_b = b + plane * tile.at.b_plane + (d.value - kDisplaced + 1) * tile.at.b_line;
        sum[d.value] = add_products(sum[d.value], Words::load(of_b + kAt), of_a);
      });
    }
    repeat<kDisplaced>([&](auto d) IRUKA_PATCH_LAMBDA { sums[d.value][j.value] = sum[d.value]; });
  });
}

/// Adds up products along rows of the patch, for each row of displacements. The rows of the second picture that the
/// next row of pixels needs again stay in registers.
template <int kPatch, int kVectors, bool kHasFewPlanes>
struct RowProducts {
  static constexpr int kPlanes = kHasFewPlanes ? kFewPlanes : 1;
  const ByteTile& tile;
  const int32_t *a, *b;
  Word kept[kDisplaced][kPlanes][kVectors + 1];

  IRUKA_PATCH_INLINE void read(int d) {
    repeat<kPlanes>([&](auto plane) IRUKA_PATCH_LAMBDA {
      repeat<kVectors + 1>([&](auto j) IRUKA_PATCH_LAMBDA {
        kept[d][plane.value][j.value] = Words::load(b + plane.value * tile.at.b_plane + j.value * Words::count);
      });
    });
  }
  IRUKA_PATCH_INLINE void begin() {
    repeat<kDisplaced - 1>([&](auto d) IRUKA_PATCH_LAMBDA {
      if constexpr (kHasFewPlanes) read(d.value + 1);
      b += tile.at.b_line;
    });
  }
  IRUKA_PATCH_INLINE void next(Word (&sums)[kDisplaced][kVectors]) {
    Word products[kDisplaced][kVectors + 1];
    if constexpr (kHasFewPlanes) {
      repeat<kDisplaced - 1>([&](auto d) IRUKA_PATCH_LAMBDA {
        repeat<kPlanes>([&](auto plane) IRUKA_PATCH_LAMBDA {
          repeat<kVectors + 1>([&](auto j) IRUKA_PATCH_LAMBDA {
            kept[d.value][plane.value][j.value] = kept[d.value + 1][plane.value][j.value];
          });
        });
      });
      read(kDisplaced - 1);
      repeat<kVectors + 1>([&](auto j) IRUKA_PATCH_LAMBDA {
        repeat<kDisplaced>([&](auto d) IRUKA_PATCH_LAMBDA { products[d.value][j.value] = Word{}; });
        repeat<kPlanes>([&](auto plane) IRUKA_PATCH_LAMBDA {
          const Word of_a = Words::load(a + plane.value * tile.at.a_plane + j.value * Words::count);
          repeat<kDisplaced>([&](auto d) IRUKA_PATCH_LAMBDA {
            Word& sum = products[d.value][j.value];
            sum = add_products(sum, kept[d.value][plane.value][j.value], of_a);
          });
        });
      });
    } else {
      multiply_planes<kVectors>(tile, a, b, products);
    }
    repeat<kDisplaced>(
        [&](auto d) IRUKA_PATCH_LAMBDA { add_neighbours<kPatch, 1, kVectors>(products[d.value], sums[d.value]); });
    a += tile.at.a_line;
    b += tile.at.b_line;
  }
};

/// Adds up the sums of kPatch rows: those of the rows before are in registers if they are few, else in a ring.
template <int kPatch, int kVectors>
struct PatchSums {
  static constexpr int kBefore = kPatch <= 3 ? kPatch - 1 : 1;
  Word rows[kBefore > 0 ? kBefore : 1][kDisplaced][kVectors]{};  ///< or the running sum
  Word ring[kPatch > 3 ? kPatch : 1][kDisplaced][kVectors];
  int slot = 0;

  IRUKA_PATCH_INLINE void begin() {
    if constexpr (kPatch > 3)
      repeat<kDisplaced>([&](auto d) IRUKA_PATCH_LAMBDA {
        repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA { ring[kPatch - 1][d.value][j.value] = Word{}; });
      });
  }
  /// A row before the first whole patch.
  IRUKA_PATCH_INLINE void add(const Word (&sums)[kDisplaced][kVectors]) {
    each([&](auto d, auto j) IRUKA_PATCH_LAMBDA {
      const Word sum = sums[d.value][j.value];
      if constexpr (kPatch > 3) {
        ring[slot][d.value][j.value] = sum;
        rows[0][d.value][j.value] += sum;
      } else {
        push(d.value, j.value, sum);
      }
    });
    ++slot;
  }
  IRUKA_PATCH_INLINE Word patch(int d, int j, Word sum) {
    if constexpr (kPatch > 3) {
      rows[0][d][j] += sum - ring[slot][d][j];
      ring[slot][d][j] = sum;
      return rows[0][d][j];
    } else {
      Word all = sum;
      repeat<kPatch - 1>([&](auto k) IRUKA_PATCH_LAMBDA { all += rows[k.value][d][j]; });
      push(d, j, sum);
      return all;
    }
  }
  IRUKA_PATCH_INLINE void next() {
    if constexpr (kPatch > 3) slot = slot + 1 == kPatch ? 0 : slot + 1;
  }

 private:
  template <class Use>
  static IRUKA_PATCH_INLINE void each(Use&& use) {
    repeat<kDisplaced>([&](auto d)
                           IRUKA_PATCH_LAMBDA { repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA { use(d, j); }); });
  }
  IRUKA_PATCH_INLINE void push(int d, int j, Word sum) {
    if constexpr (kPatch == 3) rows[0][d][j] = rows[1][d][j];
    if constexpr (kPatch > 1 && kPatch <= 3) rows[kPatch - 2][d][j] = sum;
  }
};

/// Where the loop over the rows of a tile begins, for one column of displacements.
struct ByteRows {
  int64_t first, end;  ///< rows of the tile
  int64_t vector;      ///< the first one
  int64_t b;           ///< the candidate's place in the second picture, for the first row of displacements
  int64_t label, count;
};

template <int kPatch, int kVectors, bool kHasFewPlanes>
__attribute__((noinline)) void match_rows(const ByteTile& tile, const ByteRows& job) {
  const TilePlace& at = tile.at;
  const int64_t column = job.vector * Words::count;
  RowProducts<kPatch, kVectors, kHasFewPlanes> products{
      tile, tile.a + job.first * at.a_line + column, tile.b + job.b, {}};
  PatchSums<kPatch, kVectors> patches;
  products.begin();
  patches.begin();
  Word sums[kDisplaced][kVectors], halves[kDisplaced][kVectors];
  for (int k = 0; k < kPatch - 1; ++k) {
    products.next(sums);
    patches.add(sums);
  }
  const int32_t* half = tile.half + job.b;
  repeat<kDisplaced - 1>([&](auto d) IRUKA_PATCH_LAMBDA {
    repeat<kVectors>(
        [&](auto j) IRUKA_PATCH_LAMBDA { halves[d.value + 1][j.value] = Words::load(half + j.value * Words::count); });
    half += at.b_line;
  });
  int64_t place = job.first * at.line + column;
  for (int64_t row = job.first; row < job.end; ++row) {
    repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA {
      repeat<kDisplaced - 1>([&](auto d)
                                 IRUKA_PATCH_LAMBDA { halves[d.value][j.value] = halves[d.value + 1][j.value]; });
      halves[kDisplaced - 1][j.value] = Words::load(half + j.value * Words::count);
    });
    products.next(sums);
    Word hits[kVectors], any{};
    repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA {
      Word most;
      repeat<kDisplaced>([&](auto d) IRUKA_PATCH_LAMBDA {
        Word& score = sums[d.value][j.value];
        score = patches.patch(d.value, j.value, score) - halves[d.value][j.value];
        most = d.value == 0 ? score : score > most ? score : most;
      });
      hits[j.value] = most >= Words::load(tile.least + place + j.value * Words::count);
      any |= hits[j.value];
    });
    patches.next();
    if (__builtin_expect(is_any(any), 0)) {
      repeat<kVectors>([&](auto j) IRUKA_PATCH_LAMBDA {
        if (!is_any(hits[j.value])) return;
        const int64_t lanes = place + j.value * Words::count;
        const int32_t* odd = tile.odd + (half - tile.half) - (kDisplaced - 1) * at.b_line + j.value * Words::count;
        repeat<kDisplaced>([&](auto d) IRUKA_PATCH_LAMBDA {
          if (d.value >= job.count) return;
          const Word score = sums[d.value][j.value] * 2 - Words::load(odd + d.value * at.b_line);
          keep(tile, lanes, score, static_cast<int32_t>(job.label + d.value * at.b_width));
        });
        const Word worst = Words::load(tile.scores + (at.kept - 1) * at.plane + lanes);
        Words::store((worst + 1) >> 1, tile.least + lanes);
      });
    }
    half += at.b_line;
    place += at.line;
  }
}

using MatchRows = void (*)(const ByteTile&, const ByteRows&);
constexpr int kMostVectors = IRUKA_PATCH_VECTORS;
constexpr int kMostPatch = Words::count;

struct MatchRowsTable {
  MatchRows of[kMostPatch][kMostVectors][2];  ///< by the patch, the vectors, and whether there are few planes
};
constexpr MatchRowsTable make_table() {
  MatchRowsTable table{};
  [&]<int... p>(std::integer_sequence<int, p...>) {
    (
        [&]<int patch, int... v>(Number<patch>, std::integer_sequence<int, v...>) {
          ((table.of[patch][v][0] = match_rows<patch + 1, v + 1, false>,
            table.of[patch][v][1] = match_rows<patch + 1, v + 1, true>),
           ...);
        }(Number<p>(), std::make_integer_sequence<int, kMostVectors>()),
        ...);
  }(std::make_integer_sequence<int, kMostPatch>());
  return table;
}
constexpr MatchRowsTable kMatchRows = make_table();

IRUKA_PATCH_INLINE int64_t larger(int64_t x, int64_t y) { return x > y ? x : y; }
IRUKA_PATCH_INLINE int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

/// Calls `use(dx, first vector, end)` for each column of displacements and the vectors that have candidates there.
template <class Use>
IRUKA_PATCH_INLINE void each_column(const TilePlace& at, int64_t lanes, const Displacements& by, Use&& use) {
  for (int64_t dx = by.dx; dx < by.dx_end; ++dx) {
    const int64_t left = -dx - at.x, right = at.b_width - dx - at.x;  // of the tile's columns
    const int64_t first = left > 0 ? left / lanes : 0, end = smaller(at.vectors, (right + lanes - 1) / lanes);
    if (right > 0 && first < end) use(dx, first, end);
  }
}

void match_bytes(const ByteTile& tile, const Displacements& by) {
  const TilePlace& at = tile.at;
  const int64_t first = larger(0, -(by.dy + by.count - 1) - at.y), end = smaller(at.rows, at.b_height - by.dy - at.y);
  if (first >= end) return;
  each_column(at, Words::count, by, [&](int64_t dx, int64_t vector, int64_t vectors_end) {
    const int64_t place = (at.y + first + by.dy) * at.b_line + at.x + vector * Words::count + dx;
    const bool has_few_planes = at.planes == kFewPlanes;
    kMatchRows.of[at.patch - 1][vectors_end - vector - 1][has_few_planes](
        tile, {first, end, vector, place, (at.y + by.dy) * at.b_width + dx, by.count});
  });
}

// Numbers of any type.

template <class T>
IRUKA_PATCH_INLINE typename PatchLanes<T>::Vector add_square(typename PatchLanes<T>::Vector sum,
                                                             typename PatchLanes<T>::Vector difference) {
  if constexpr (T(0.5) == T(0))
    return sum + difference * difference;
  else
    return __builtin_elementwise_fma(difference, difference, sum);
}

template <class T, class Label>
__attribute__((noinline)) void keep(const NumberTile<T, Label>& tile, int64_t place,
                                    typename PatchLanes<T>::Vector distance, Label label) {
  using L = PatchLanes<T>;
  auto labels = PatchLanes<Label>::all(label);
  decltype(distance < distance) is_nearer{};
  for (int64_t k = 0; k < tile.at.kept; ++k, place += tile.at.plane) {
    const auto other = L::load(tile.distances + place);
    const auto other_label = PatchLanes<Label>::load(tile.labels + place);
    // Candidates come in scan order, and one that has lost its place takes the next.
    is_nearer |= distance < other;
    L::store(is_nearer ? distance : other, tile.distances + place);
    PatchLanes<Label>::store(is_nearer ? labels : other_label, tile.labels + place);
    distance = is_nearer ? other : distance;
    labels = is_nearer ? other_label : labels;
  }
}

/// The sums of a row of patches: result[x] = row[x] + ... + row[x + patch - 1], for vectors of x. Exact sums are made
/// of sums of pairs, pairs of pairs...; others are added from left to right.
template <bool kIsExact, class T>
IRUKA_PATCH_INLINE void add_row(T* row, T* pairs, int64_t patch, int64_t vectors, T* result) {
  using L = PatchLanes<T>;
  if constexpr (kIsExact) {
    bool is_first = true;
    int64_t at = 0;  // pixels of the row that the result has
    for (int64_t count = patch, step = 1;; count >>= 1, step *= 2) {
      if (count & 1) {
        for (int64_t j = 0; j < vectors * L::count; j += L::count)
          L::store(is_first ? L::load(row + j + at) : L::load(result + j) + L::load(row + j + at), result + j);
        is_first = false;
        at += step;
      }
      if (count == 1) return;
      for (int64_t j = 0; j < vectors * L::count + patch - 2 * step + 1; j += L::count)
        L::store(L::load(row + j) + L::load(row + j + step), pairs + j);
      std::swap(row, pairs);
    }
  } else {
    for (int64_t j = 0; j < vectors * L::count; j += L::count) {
      auto sum = L::load(row + j);
      for (int64_t k = 1; k < patch; ++k) sum += L::load(row + j + k);
      L::store(sum, result + j);
    }
  }
}

/// The sums of squares of a row of pixels, over their channels.
template <class T, class Label>
IRUKA_PATCH_INLINE void square_row(const NumberTile<T, Label>& tile, const T* a, const T* b, int64_t count, T* to) {
  using L = PatchLanes<T>;
  for (int64_t j = 0; j < count; j += L::count) {
    typename L::Vector sum{};
    for (int64_t plane = 0; plane < tile.at.planes; ++plane)
      sum = add_square<T>(sum, L::load(a + plane * tile.at.a_plane + j) - L::load(b + plane * tile.at.b_plane + j));
    L::store(sum, to + j);
  }
}

template <bool kIsExact, class T, class Label>
void match_column(const NumberTile<T, Label>& tile, int64_t first, int64_t end, int64_t vector, int64_t vectors,
                  int64_t b_place, Label label) {
  using L = PatchLanes<T>;
  const TilePlace& at = tile.at;
  const int64_t size = (kNumberVectors + 2) * L::count + at.patch, column = vector * L::count;
  constexpr int64_t kSlot = kNumberVectors * L::count;
  T *const row = tile.scratch, *const pairs = row + size, *const running = pairs + size, *const ring = running + size;
  const T *a = tile.a + first * at.a_line + column, *b = tile.b + b_place;
  for (int64_t j = 0; j < vectors * L::count; j += L::count) L::store(typename L::Vector{}, running + j);
  for (int64_t y = first - at.patch + 1, slot = 0; y < end; ++y, slot = slot + 1 == at.patch ? 0 : slot + 1) {
    T* const sums = ring + slot * kSlot;
    if constexpr (kIsExact)
      if (y > first)
        for (int64_t j = 0; j < vectors * L::count; j += L::count)
          L::store(L::load(running + j) - L::load(sums + j), running + j);
    square_row(tile, a, b, vectors * L::count + at.patch - 1, row);
    add_row<kIsExact>(row, pairs, at.patch, vectors, sums);
    a += at.a_line;
    b += at.b_line;
    if constexpr (kIsExact)
      for (int64_t j = 0; j < vectors * L::count; j += L::count)
        L::store(L::load(running + j) + L::load(sums + j), running + j);
    if (y < first) continue;
    for (int64_t j = 0; j < vectors; ++j) {
      typename L::Vector distance;
      if constexpr (kIsExact) {
        distance = L::load(running + j * L::count);
      } else {
        const int64_t oldest = slot + 1 == at.patch ? 0 : slot + 1;
        distance = L::load(ring + oldest * kSlot + j * L::count);
        for (int64_t k = oldest + 1; k < at.patch; ++k) distance += L::load(ring + k * kSlot + j * L::count);
        for (int64_t k = 0; k < oldest; ++k) distance += L::load(ring + k * kSlot + j * L::count);
      }
      distance += L::load(tile.blocked + b_place + (y - first) * at.b_line + j * L::count);
      const int64_t place = y * at.line + column + j * L::count;
      const auto is_nearer = distance < L::load(tile.distances + (at.kept - 1) * at.plane + place);
      if (is_any((Word)is_nearer)) keep<T, Label>(tile, place, distance, label);
    }
  }
}

template <bool kIsExact, class T, class Label>
void match_numbers(const NumberTile<T, Label>& tile, const Displacements& by) {
  const TilePlace& at = tile.at;
  for (int64_t dy = by.dy; dy < by.dy + by.count; ++dy) {
    const int64_t first = larger(0, -dy - at.y), end = smaller(at.rows, at.b_height - dy - at.y);
    if (first >= end) continue;
    each_column(at, PatchLanes<T>::count, by, [&](int64_t dx, int64_t vector, int64_t vectors_end) {
      const int64_t place = (at.y + first + dy) * at.b_line + at.x + vector * PatchLanes<T>::count + dx;
      match_column<kIsExact, T, Label>(tile, first, end, vector, vectors_end - vector, place,
                                       static_cast<Label>((at.y + dy) * at.b_width + dx));
    });
  }
}

// PatchMatch on bytes.

constexpr int kChunk = kBytes / 2;  // bytes that become a vector of 16 bits
using Bytes __attribute__((vector_size(kChunk))) = uint8_t;
using UnalignedBytes __attribute__((vector_size(kChunk), aligned(1), may_alias)) = uint8_t;
using Shorts __attribute__((vector_size(kBytes))) = int16_t;

IRUKA_PATCH_INLINE Word add_squares(Word sum, Shorts v) {
#if defined(__AVX512VNNI__)
  return (Word)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)v, (__m512i)v);
#elif defined(__AVX512BW__)
  return sum + (Word)_mm512_madd_epi16((__m512i)v, (__m512i)v);
#elif defined(__AVX2__)
  return sum + (Word)_mm256_madd_epi16((__m256i)v, (__m256i)v);
#elif defined(__SSE2__)
  return sum + (Word)_mm_madd_epi16((__m128i)v, (__m128i)v);
#else
  const Word words = (Word)v, low = (words << 16) >> 16, high = words >> 16;
  return sum + low * low + high * high;
#endif
}

/// The distance of two patches of pictures with their borders, whose rows are `row` bytes.
struct ByteDistance {
  using Sum = int;
  const uint8_t *a, *b;
  int64_t a_line, b_line, channels, patch, row;
  Bytes rest;  ///< the bytes of a row's last chunk

  IRUKA_PATCH_INLINE Sum operator()(int y, int x, int b_y, int b_x, Sum limit) const {
    const uint8_t *p = a + y * a_line + x * channels, *q = b + b_y * b_line + b_x * channels;
    Word sum{};
    for (int64_t k = 0; k < patch; ++k, p += a_line, q += b_line) {
      int64_t at = 0;
      for (; at + kChunk < row; at += kChunk) sum = add_squares(sum, difference(p + at, q + at, ~Bytes{}));
      sum = add_squares(sum, difference(p + at, q + at, rest));
      // A sum of lanes costs as much as two rows.
      if (k % 4 == 3 && __builtin_reduce_add(sum) > limit) break;
    }
    return __builtin_reduce_add(sum);
  }

 private:
  static IRUKA_PATCH_INLINE Shorts difference(const uint8_t* p, const uint8_t* q, Bytes mask) {
    const Bytes first = *reinterpret_cast<const UnalignedBytes*>(p) & mask,
                second = *reinterpret_cast<const UnalignedBytes*>(q) & mask;
    return __builtin_convertvector(first, Shorts) - __builtin_convertvector(second, Shorts);
  }
};

template <int kKept>
void sweep_kept(const PatchSweep& job, int64_t begin, int64_t end) {
  const int32_t* const s = job.sizes;
  const int64_t row = job.patch * job.channels;
  Bytes rest{};
  for (int64_t k = 0; k < (row - 1) % kChunk + 1; ++k) rest[k] = 0xff;
  image::PatchSearch<ByteDistance, kKept> search{
      {static_cast<const uint8_t*>(job.a), static_cast<const uint8_t*>(job.b), (s[1] + job.patch - 1) * job.channels,
       (s[3] + job.patch - 1) * job.channels, job.channels, job.patch, row, rest},
      {s[0], s[1], s[2], s[3], s[4], s[5], s[6]},
      job.mask,
      job.before,
      job.labels,
      job.distances,
      job.seed};
  const int sweep = static_cast<int>(job.sweep);
  for (int64_t k = begin; k < end; ++k)
    search.sweep(k, static_cast<int>(job.segment), sweep, sweep % 2 == 0, sweep % 4 >= 2);
}

void sweep_bytes(const PatchSweep& job, int64_t begin, int64_t end) {
  repeat<8>([&](auto k) IRUKA_PATCH_LAMBDA {
    if (job.kept == k.value + 1) sweep_kept<k.value + 1>(job, begin, end);
  });
}

#include "backend/cpu/patch_leaves.h"

}  // namespace

// NOLINTBEGIN(misc-definitions-in-headers): one source file of each namespace includes this one
const PatchLoops patch_loops{Words::count,
                             kWordNumbers,
                             kMostPatch,
                             kMostVectors,
                             match_bytes,
                             match_numbers<false, float, int32_t>,
                             match_numbers<false, double, int64_t>,
                             match_numbers<true, int32_t, int32_t>,
                             match_numbers<true, int64_t, int64_t>,
                             match_numbers<true, double, int64_t>,
                             sweep_bytes,
                             patch_features,
                             scan_leaf};
// NOLINTEND(misc-definitions-in-headers)

}  // namespace iruka::cpu_backend::IRUKA_PATCH_TARGET
