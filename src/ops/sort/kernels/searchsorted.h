// Where a value goes in a sorted array: in front of its equals, or behind them from the right.
#pragma once

#include "ops/sort/kernels/before.h"
#include "ops/sort/kernels/search.h"

namespace iruka::order {

/// element(k) is the k-th of n elements in order.
template <class T, class I, class Element>
IRUKA_INLINE I place_among(T v, I n, bool from_right, Element element) {
  return count_first(n, [&](I k) {
    const T other = element(k);
    return from_right ? !before(v, other) : before(other, v);
  });
}

template <class A, class T, class I>
IRUKA_INLINE I searchsorted(const A& a, T v, I n, bool from_right) {
  return place_among(v, n, from_right, [&](I k) -> T { return a[k]; });
}

/// `order` has the indices that sort the array; is_bad[0] becomes true if one is out of bounds.
template <class A, class T, class I, class Order, class Flag>
IRUKA_INLINE I searchsorted(const A& a, T v, I n, bool from_right, const Order& order, Flag& is_bad) {
  return place_among(v, n, from_right, [&](I k) -> T {
    const int64_t place = order[k];
    const bool fits = (uint64_t)place < (uint64_t)n;
    if (!fits) is_bad[0] = true;
    return a[fits ? place : 0];
  });
}

}  // namespace iruka::order
