// Fisher and Yates's shuffle, forwards, so that the first entries are settled early.
#pragma once

#include "ops/random/kernels/bounded.h"

namespace iruka::random {

/// Settles the first `chosen` entries of row `row` of y, whose elements are of type T.
template <class T, class Rows>
IRUKA_INLINE void shuffle_row(unsigned long long seed, unsigned long long stream, long long row, long long chosen,
                              Rows& y) {
  const long long columns = y.shape()[1];
  PhiloxWords w{0, 0, 0, 0};
  for (long long k = 0; k < chosen; ++k) {
    const unsigned long long block = (unsigned long long)row * 256 + (k >> 2);
    const int place = (int)k & 3;
    if (place == 0) w = philox_block(seed, stream, block, 0);
    const unsigned left = (unsigned)(columns - k), word = word_at(w, place);
    unsigned step = bounded<unsigned>(word, left);
    if (word * left < left) {
      const unsigned threshold = (0u - left) % left;
      if (word * left < threshold) step = redrawn<unsigned>(seed, stream, block, place, left, threshold);
    }
    const long long other = k + step;
    const T kept = y[{row, k}];
    y[{row, k}] = y[{row, other}];
    y[{row, other}] = kept;
  }
}

}  // namespace iruka::random
