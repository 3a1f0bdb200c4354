// Where runs of equal elements begin.
#pragma once

namespace iruka::order {

template <class T> inline bool differ(T a, T b, bool equal_nan) {
  return !(a == b) && !(equal_nan && a != a && b != b);
}

/// Whether row i of x, in the order of `order`, differs from the row before it, or is the first.
template <class X, class Order>
IRUKA_INLINE bool begins_run(const X& x, const Order& order, int64_t i, int64_t width, bool equal_nan) {
  bool is_first = i == 0;
  for (int64_t k = 0; !is_first && k < width; ++k)
    is_first = differ(x[order[i] * width + k], x[order[i - 1] * width + k], equal_nan);
  return is_first;
}

}  // namespace iruka::order
