// A bijection of [0, 2^bits), walked until it lands in [0, items): a bijection of that. The round is VariablePhilox's
// (Mitchell, Stokes, Frank and Holmes, "Bandwidth-optimal random shuffling for GPUs", 2022).
#pragma once

namespace iruka::random {

static inline void scramble(unsigned& left, unsigned& right, unsigned key, int left_bits, int right_bits) {
  const unsigned long long product = 0xD2B74407B1CE6E93ull * left;
  const unsigned low = (unsigned)product << (right_bits - left_bits) | right >> left_bits;
  left = ((unsigned)(product >> 32) ^ key ^ right) & ((1u << left_bits) - 1);
  right = low & ((1u << right_bits) - 1);
}
/// Where i goes. Each of `keys` holds two rounds' keys, the low word's first.
template <class... Keys>
IRUKA_INLINE long long bijection(unsigned long long i, unsigned long long items, int right_bits, int left_bits,
                                 Keys... keys) {
  unsigned long long x = i;
  do {
    unsigned left = (unsigned)(x >> right_bits), right = (unsigned)x & ((1u << right_bits) - 1);
    ((scramble(left, right, (unsigned)keys, left_bits, right_bits),
      scramble(left, right, (unsigned)(keys >> 32), left_bits, right_bits)),
     ...);
    x = (unsigned long long)left << right_bits | right;
  } while (x >= items);
  return (long long)x;
}

}  // namespace iruka::random
