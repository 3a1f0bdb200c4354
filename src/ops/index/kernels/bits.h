// Bools packed into bits, and back: a word has eight of them, one a byte.
#pragma once

namespace iruka::bits {

/// Byte k holds the bit of a packed byte that stands for byte k of a word: with the highest first, byte 0 holds 0x80
/// and byte 7 0x01.
template <bool kHighestFirst>
IRUKA_INLINE constexpr uint64_t places() {
  return kHighestFirst ? 0x0102040810204080ULL : 0x8040201008040201ULL;
}

/// 1 in each byte whose highest bit is set, else 0.
IRUKA_INLINE uint64_t highest_bits(uint64_t word) { return (word >> 7) & 0x0101010101010101ULL; }

/// Each byte becomes 0 or 1 in place, and the product with the other order's places gathers them in the highest byte.
template <bool kHighestFirst>
IRUKA_INLINE uint8_t pack(uint64_t word) {
  const uint64_t low = 0x7f7f7f7f7f7f7f7fULL;
  return (uint8_t)((highest_bits(word | ((word & low) + low)) * places<!kHighestFirst>()) >> 56);
}

template <bool kHighestFirst>
IRUKA_INLINE uint64_t unpack(uint8_t packed) {
  return highest_bits(((packed * 0x0101010101010101ULL) & places<kHighestFirst>()) + 0x7f7f7f7f7f7f7f7fULL);
}

}  // namespace iruka::bits
