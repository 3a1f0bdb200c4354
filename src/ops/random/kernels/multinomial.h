// Counts over categories, one category after the other.
#pragma once

#include "ops/random/kernels/binomial.h"

namespace iruka::random {

/// Row `row` of counts, of trials[row] trials with the probabilities in row `row` of pvals.
template <class Trials, class Probabilities, class Counts>
IRUKA_INLINE void draw_multinomial(Draws<double> d, long long row, Trials& trials, Probabilities& pvals,
                                   Counts& counts) {
  const long long categories = pvals.shape()[1];
  double left = (double)trials[row], rest = 1;
  for (long long k = 0; k < categories; ++k) {
    const double p = pvals[{row, k}];
    const double hits = k == categories - 1 || p >= rest ? left : draw_binomial(d, left, p / rest);
    counts[{row, k}] = (long long)hits;
    left -= hits;
    rest -= p;
  }
}

}  // namespace iruka::random
