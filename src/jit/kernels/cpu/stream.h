// Non-temporal stores of whole cache lines. The loop vectoriser does not vectorise such stores of elements, so a few
// lines of results are collected in a local array, which the optimiser keeps in registers. x86 orders these stores by a
// fence alone.
#pragma once

typedef uint64_t iruka_line __attribute__((vector_size(64)));
template <class T, int N> static inline __attribute__((always_inline)) void iruka_stream(T* to, const T (&from)[N]) {
  static_assert(N * sizeof(T) % sizeof(iruka_line) == 0);
  for (int k = 0; k < int(N * sizeof(T) / sizeof(iruka_line)); ++k)
    __builtin_nontemporal_store(((const iruka_line*)from)[k], (iruka_line*)to + k);
}
static inline void iruka_stream_fence() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}
