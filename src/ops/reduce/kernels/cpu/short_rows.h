// Dense rows of a few elements: the loop over outputs is vectorised.
#pragma once

#include "ops/reduce/kernels/arguments.h"

namespace iruka::reduction {

template <class Partials, int n>
struct OneByOne {
  static IRUKA_INLINE typename Partials::Partial of(const char* p) {
    typename Partials::Partial value = Partials::start_partial();
    for (int k = 0; k < n; ++k) value = Partials::join(value, Partials::of(Partials::element(p, k, 0), k));
    return value;
  }
};

template <class Partials, int n>
struct ShortMoments {
  static IRUKA_INLINE typename Partials::Partial of(const char* p) {
    using A = typename Partials::A;
    using R = typename Partials::R;
    const A pivot = Partials::map(Partials::element(p, 0, 0));
    A mean = Partials::start();
    for (int k = 0; k < n; ++k) mean = mean + (Partials::map(Partials::element(p, k, 0)) - pivot);
    mean = mean / R(n);
    R squares = R(0);
    for (int k = 0; k < n; ++k)
      squares = squares + Partials::square_of((Partials::map(Partials::element(p, k, 0)) - pivot) - mean);
    return {pivot, mean, squares, n};
  }
};

template <class Partials, template <class, int> class Short, int n>
IRUKA_INLINE void reduce_short_rows(const unsigned char* block, ptrdiff_t begin, ptrdiff_t end) {
  const auto& a = *(const Arguments<1, 0>*)block;
  const auto* x = (const typename Partials::In*)a.x;
  auto* out = (typename Partials::Out*)a.out;
#pragma clang loop vectorize(assume_safety)
  for (ptrdiff_t o = begin; o < end; ++o)
    out[o] = Partials::finish(Short<Partials, n>::of((const char*)(x + o * n)), a.count);
}

}  // namespace iruka::reduction
