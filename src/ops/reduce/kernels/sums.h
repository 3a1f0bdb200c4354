// Sums and similar reductions: a partial result is an accumulator.
#pragma once

namespace iruka::reduction {

template <class Row>
struct Sums : Row {
  using Partial = typename Row::A;
  static IRUKA_INLINE Partial start_partial() { return Row::start(); }
  static IRUKA_INLINE Partial join(Partial a, Partial b) { return Row::combine(a, b); }
  /// The partial result of one element.
  static IRUKA_INLINE Partial of(typename Row::C x, long long) { return Partial(Row::map(x)); }
};

}  // namespace iruka::reduction
