// Packs of 16 bytes, which a thread stores by one instruction.
#pragma once

namespace iruka::random {

/// Calls fill(k) for the packs of thread i: threads of a warp take neighbouring packs, round by round. What does not
/// depend on k is done once.
template <class Fill>
IRUKA_INLINE void each_pack(long long i, long long packs, int rounds, Fill fill) {
  long long k = (i >> 5) * 32 * rounds + (i & 31);
  const long long end = min(k + 32 * rounds, packs);
#pragma unroll 1
  for (; k < end; k += 32) fill(k);
}

}  // namespace iruka::random
