// argmin and argmax: a partial result is a value and its index.
#pragma once

namespace iruka::reduction {

template <class Row>
struct Bests : Row {
  using typename Row::C;
  struct Partial {
    C value;
    long long index;
  };
  /// For numbers, and for lanes of two vectors.
  template <class V>
  static IRUKA_INLINE auto beats(V b, V a) {
    return Row::is_before(b, a) | ((b != b) & (a == a));
  }
  static IRUKA_INLINE bool ties(C a, C b) { return (a == b) | ((a != a) & (b != b)); }
  static IRUKA_INLINE Partial start_partial() { return {Row::start(), 0x7fffffffffffffffll}; }
  static IRUKA_INLINE Partial join(Partial a, Partial b) {
    return beats(b.value, a.value) | (ties(b.value, a.value) & (b.index < a.index)) ? b : a;
  }
  static IRUKA_INLINE typename Row::Out finish(Partial best, double) { return best.index; }
  /// The partial result of one element.
  static IRUKA_INLINE Partial of(C x, long long index) { return {x, index}; }
};

}  // namespace iruka::reduction
