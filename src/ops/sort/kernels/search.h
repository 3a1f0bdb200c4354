// Binary search.
#pragma once

namespace iruka::order {

/// How many of n elements come first: is_first(k) is true for them and false for all later ones. Every lane halves the
/// same length, so none waits for another.
template <class I, class IsFirst>
IRUKA_INLINE I count_first(I n, IsFirst is_first) {
  I low = 0;
  for (I length = n; length > 0;) {
    const I half = length - length / 2;
    low += is_first(low + half - 1) ? half : (I)0;
    length -= half;
  }
  return low;
}

}  // namespace iruka::order
