// The names in most bodies about control flow and local variables.
#pragma once

#include "spmd_testing.h"

namespace iruka::test {

inline const KernelSpec kUsual = {"float32 x, int32 k, raw float32 a, raw int32 b, int32 t", "float32 z, int32 w"};
#define USUAL                                                                                     \
  ([[maybe_unused]] float x, [[maybe_unused]] int32_t k, [[maybe_unused]] CArray<float, 1>& a,    \
   [[maybe_unused]] CArray<int32_t, 1>& b, [[maybe_unused]] int32_t t, [[maybe_unused]] float& z, \
   [[maybe_unused]] int32_t& w)

/// x in quarters, k from 0 to `most`, a as long as the loop, b of 64 numbers from -50 to 50.
inline auto usual(int32_t t, int32_t most) {
  return [t, most](int64_t n) {
    return operands(plain(quarters<float>(n, 1)), plain(integers<int32_t>(n, 2, 0, most)), raw(quarters<float>(n, 3)),
                    raw(integers<int32_t>(64, 4, -50, 50)), scalar(t), out<float>(n), out<int32_t>(n));
  };
}

}  // namespace iruka::test
