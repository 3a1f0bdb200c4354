// Transposes a tile whose lines are `stride` bytes apart. Squares are transposed in registers: stage D exchanges
// elements of vectors D apart. Elements at the edges are copied one by one.
#pragma once

#include "jit/kernels/cpu/move.h"

template <class T, T... I> struct iruka_lanes {};
template <int D, class V, int... L> static inline void iruka_exchange(V& a, V& b, iruka_lanes<int, L...>) {
  constexpr int n = sizeof...(L);
  const V first = __builtin_shufflevector(a, b, ((L & D) ? n + L - D : L)...);
  b = __builtin_shufflevector(a, b, ((L & D) ? n + L : L + D)...);
  a = first;
}
template <int D, int N, class V> static inline void iruka_turn_stages(V* v) {
  if constexpr (D < N) {
#pragma clang loop unroll(full)
    for (int k = 0; k < N; ++k)
      if (!(k & D)) iruka_exchange<D>(v[k], v[k + D], __make_integer_seq<iruka_lanes, int, N>());
    iruka_turn_stages<2 * D, N>(v);
  }
}
template <class T, int N, int Edge> static __attribute__((noinline)) void iruka_turn(const char* from, ptrdiff_t stride,
                                                                                     ptrdiff_t lines, ptrdiff_t length,
                                                                                     T* to) {
  const ptrdiff_t whole_lines = N > 1 ? lines / N * N : 0, whole_length = N > 1 ? length / N * N : 0;
  if constexpr (N > 1) {
    typedef T V __attribute__((ext_vector_type(N)));
#pragma clang loop vectorize(disable) unroll(disable)
    for (ptrdiff_t line = 0; line < whole_lines; line += N)
#pragma clang loop vectorize(disable) unroll(disable)
      for (ptrdiff_t at = 0; at < whole_length; at += N) {
        V v[N];
#pragma clang loop unroll(full)
        for (int k = 0; k < N; ++k) __builtin_memcpy(&v[k], from + (line + k) * stride + at * sizeof(T), sizeof(V));
        iruka_turn_stages<1, N>(v);
#pragma clang loop unroll(full)
        for (int k = 0; k < N; ++k) __builtin_memcpy(to + (at + k) * Edge + line, &v[k], sizeof(V));
      }
  }
#pragma clang loop vectorize(disable) unroll(disable)
  for (ptrdiff_t line = 0; line < lines; ++line)
#pragma clang loop vectorize(disable) unroll(disable)
    for (ptrdiff_t at = line < whole_lines ? whole_length : 0; at < length; ++at)
      iruka_move<T>(to + at * Edge + line, from + line * stride + at * sizeof(T));
}
