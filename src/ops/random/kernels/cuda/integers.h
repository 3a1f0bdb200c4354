// A pack of bounded integers.
#pragma once

#include "jit/kernels/cuda/pack.h"
#include "ops/random/kernels/bounded.h"

namespace iruka::random {

/// Stores pack k. If a block of words gives more than 16 bytes, several threads store a part each: computing all its
/// words again is cheaper than passing them between threads.
template <class T, int kBits, bool kIsBounded, int kElements, class Out>
IRUKA_INLINE void store_integers(unsigned long long seed, unsigned long long stream, unsigned long long k,
                                 unsigned long long low, Word<kBits> span, Word<kBits> threshold, Out& y) {
  constexpr unsigned long long kParts = 128 / kBits / kElements;
  const unsigned long long block = k / kParts;
  const PhiloxWords w = philox_block(seed, stream, block, 0);
  iruka_pack<T, kElements> pack;
#pragma unroll
  for (int n = 0; n < kElements; ++n) {
    const int place = (int)(k % kParts) * kElements + n;
    Word<kBits> value = piece<kBits>(w, place);
    if constexpr (kIsBounded)
      value = is_rejected(value, span, threshold) ? redrawn(seed, stream, block, place, span, threshold)
                                                  : bounded(value, span);
    pack.at[n] = (T)(low + value);
  }
  pack.store(&y[kElements * (long long)k]);
}

}  // namespace iruka::random
