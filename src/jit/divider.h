// The host's part of src/jit/kernels/divide.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace iruka::jit {

/// n / d is (2n * magic) >> 32 >> shift for n < 2^31, with magic = 2^(31 + shift) / d rounded up and 2^shift >= d.
struct Divider {
  explicit Divider(int64_t number) {
    const auto d = static_cast<uint64_t>(std::max<int64_t>(number, 1));  // an empty loop has none
    shift = static_cast<uint32_t>(std::bit_width(d - 1));
    magic = static_cast<uint32_t>(((uint64_t{1} << (31 + shift)) + d - 1) / d);
  }
  uint32_t magic, shift;
};

}  // namespace iruka::jit
