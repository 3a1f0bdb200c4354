// A block of bounded integers, place by place.
#pragma once

#include "ops/random/kernels/bounded.h"

namespace iruka::random {

template <class, int... kPlaces>
struct Places {};

/// Writes every place once, and rejected ones again, which is rare and skipped by lanes without any.
template <class T, int kBits, bool kIsBounded, int... kPlaces, class Out>
IRUKA_INLINE void store_places(Places<int, kPlaces...>, unsigned long long seed, unsigned long long stream,
                               unsigned long long block, unsigned long long low, Word<kBits> span,
                               Word<kBits> threshold, Out& y) {
  constexpr int kCount = sizeof...(kPlaces);
  const PhiloxWords w = philox_block(seed, stream, block, 0);
  if constexpr (!kIsBounded) {
    ((y[kCount * block + kPlaces] = (T)(low + piece<kBits>(w, kPlaces))), ...);
  } else {
    ((y[kCount * block + kPlaces] = (T)(low + bounded(piece<kBits>(w, kPlaces), span))), ...);
    if ((is_rejected(piece<kBits>(w, kPlaces), span, threshold) | ...)) {
      for (int place = 0; place < kCount; ++place)
        if (is_rejected(piece<kBits>(w, place), span, threshold))
          y[kCount * block + place] = (T)(low + redrawn(seed, stream, block, place, span, threshold));
    }
  }
}
/// The integers of a block of words, from its pieces of kBits each.
template <class T, int kBits, bool kIsBounded, class Out>
IRUKA_INLINE void store_integers(unsigned long long seed, unsigned long long stream, unsigned long long block,
                                 unsigned long long low, Word<kBits> span, Word<kBits> threshold, Out& y) {
  store_places<T, kBits, kIsBounded>(__make_integer_seq<Places, int, 128 / kBits>(), seed, stream, block, low, span,
                                     threshold, y);
}

}  // namespace iruka::random
