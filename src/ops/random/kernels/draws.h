// Samplers by rejection, or with several draws.
#pragma once

#include "ops/random/kernels/normals.h"

namespace iruka::random {

/// The blocks of one element. No other element reads them.
template <class T> struct Draws {
  unsigned long long seed, stream, element;
  unsigned next;
};
/// Every loop ends, because a kernel on a GPU must: the probability of so many rejections is below 2^-100.
static constexpr int kAttempts = 512;
template <class T> static inline PhiloxWords draw_words(Draws<T>& d) {
  return philox_block(d.seed, d.stream, d.element, d.next++);
}
template <class T> static inline T draw_unit(Draws<T>& d) {
  const PhiloxWords w = draw_words(d);
  return unit_above_zero<T>(w.w0, w.w1);
}
template <class T> static inline T draw_normal(Draws<T>& d) {
  const PhiloxWords w = draw_words(d);
  return normal_pair<T>(w.w0, w.w1, w.w2, w.w3).first;
}

}  // namespace iruka::random
