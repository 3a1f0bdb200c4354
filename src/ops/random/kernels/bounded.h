// Lemire, "Fast random integer generation in an interval", 2019. A rejected element draws again at its place of the
// block with the next attempt's number, so its value depends on its index alone. `threshold` is 2^bits modulo the span.
#pragma once

#include "ops/random/kernels/philox.h"

namespace iruka::random {

static inline unsigned word_at(PhiloxWords w, int place) {
  return place == 0 ? w.w0 : place == 1 ? w.w1 : place == 2 ? w.w2 : w.w3;
}
static inline unsigned long long double_word_at(PhiloxWords w, int place) {
  return place ? (unsigned long long)w.w2 << 32 | w.w3 : (unsigned long long)w.w0 << 32 | w.w1;
}
/// W is unsigned for pieces of one word, unsigned long long for two.
template <class W> static inline W piece_at(PhiloxWords w, int place) {
  return sizeof(W) == 4 ? (W)word_at(w, place) : (W)double_word_at(w, place);
}
/// What holds a piece of kBits.
template <int kBits> struct PieceWord {
  using type = unsigned;
};
template <> struct PieceWord<64> {
  using type = unsigned long long;
};
template <int kBits> using Word = typename PieceWord<kBits>::type;
/// Piece number `place` of a block that is cut into pieces of kBits.
template <int kBits> static inline Word<kBits> piece(PhiloxWords w, int place) {
  if constexpr (kBits >= 32) {
    return piece_at<Word<kBits>>(w, place);
  } else {
    constexpr int kPerWord = 32 / kBits;
    return word_at(w, place / kPerWord) >> place % kPerWord * kBits & ((1u << kBits) - 1);
  }
}
template <class W> static inline bool is_rejected(W word, W span, W threshold) { return (W)(word * span) < threshold; }
template <class W> static inline W bounded(W word, W span) {
  return sizeof(W) == 4 ? (W)__umulhi((unsigned)word, (unsigned)span) : (W)__umul64hi(word, span);
}
template <class W>
static inline W redrawn(unsigned long long seed, unsigned long long stream, unsigned long long block, int place, W span,
                        W threshold) {
  W word = 0;
  for (unsigned attempt = 1; attempt < 512; ++attempt) {
    word = piece_at<W>(seldom_philox_block(seed, stream, block, attempt), place);
    if (!is_rejected<W>(word, span, threshold)) break;
  }
  return bounded<W>(word, span);
}
/// The integer at the first place of a block. A span of 0 stands for 2^64.
static inline unsigned long long bounded_block(unsigned long long seed, unsigned long long stream,
                                               unsigned long long block, unsigned long long span) {
  const unsigned long long word = double_word_at(philox_block(seed, stream, block, 0), 0);
  if (span == 0) return word;
  if (word * span < span) {
    const unsigned long long threshold = (0 - span) % span;
    if (is_rejected(word, span, threshold)) return redrawn(seed, stream, block, 0, span, threshold);
  }
  return bounded(word, span);
}

}  // namespace iruka::random
