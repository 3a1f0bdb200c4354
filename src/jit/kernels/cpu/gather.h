// Copies elements `stride` bytes apart to neighbouring ones. Clang's loop vectoriser takes long for such loops, so it
// is disabled here, and the common stride of two elements is vectorised by hand.
#pragma once

#include "jit/kernels/cpu/move.h"

template <class T> static __attribute__((noinline, hot)) void iruka_gather(const char* from, ptrdiff_t stride,
                                                                           ptrdiff_t count, T* to) {
  ptrdiff_t k = 0;
  if constexpr (sizeof(T) <= 8) {
    constexpr ptrdiff_t lanes = 32 / sizeof(T);
    typedef T V __attribute__((ext_vector_type(2 * lanes)));
    if (stride == 2 * sizeof(T))
#pragma clang loop vectorize(disable) unroll(disable)
      for (; k < count - lanes; k += lanes) {  // the last vector would read past the last element
        V both;
        __builtin_memcpy(&both, from + k * stride, sizeof(both));
        const auto even = both.even;
        __builtin_memcpy(to + k, &even, sizeof(even));
      }
  }
#pragma clang loop vectorize(disable) unroll(disable)
  for (; k < count; ++k) iruka_move<T>(to + k, from + k * stride);
}
