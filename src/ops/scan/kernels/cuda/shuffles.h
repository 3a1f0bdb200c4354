// Shuffles of values of any type among the threads of a warp, and the scan of a warp.
#pragma once

namespace iruka::scan {

template <class A>
inline A shuffle_up(A value, int distance) {
  unsigned parts[sizeof(A) / 4];
  memcpy(parts, &value, sizeof(A));
#pragma unroll
  for (unsigned k = 0; k < sizeof(A) / 4; ++k) parts[k] = __shfl_up_sync(0xffffffffu, parts[k], distance);
  memcpy(&value, parts, sizeof(A));
  return value;
}

template <class Types>
inline typename Types::A warp_scan(typename Types::A value, int lane) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const auto before = shuffle_up(value, distance);
    if (lane >= distance) value = Types::combine(before, value);
  }
  return value;
}

}  // namespace iruka::scan
