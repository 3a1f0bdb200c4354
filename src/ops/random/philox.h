// Philox 4x32-10 in the kernel language (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011; the constants are Random123's), and on the host for what a call draws once.
#pragma once

#include <array>
#include <cstdint>

namespace iruka::ops {

/// philox_block of the kernel language, on the host.
constexpr std::array<uint32_t, 4> philox_block(uint64_t seed, uint64_t stream, uint64_t block, uint32_t attempt) {
  std::array<uint32_t, 4> c{static_cast<uint32_t>(block),
                            static_cast<uint32_t>((stream >> 32) << 16 | ((block >> 32) & 0xffff)),
                            static_cast<uint32_t>(stream), attempt};
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ key1, static_cast<uint32_t>(p0)};
  }
  return c;
}

}  // namespace iruka::ops
