// Michael, Schucany and Haas, 1976, with the smaller root as a quotient, which does not cancel.
#pragma once

#include "ops/random/kernels/draws.h"

namespace iruka::random {

template <class T> static inline T draw_wald(Draws<T>& d, T mean, T scale) {
  const T z = draw_normal(d), w = mean * z * z / ((T)2 * scale), sum = (T)1 + w + sqrt(w * (w + (T)2));
  return draw_unit(d) <= sum / (sum + (T)1) ? mean / sum : mean * sum;
}

}  // namespace iruka::random
