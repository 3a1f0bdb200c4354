// Whether two strided arrays share memory: bounds, then a bounded search for a common byte.
#include <algorithm>
#include <array>
#include <numeric>

#include "core/layout.h"

namespace iruka {
namespace {

/// coefficient * x with 0 <= x <= bound.
struct Term {
  int64_t coefficient, bound;
};

/// Whether sum(coefficient * x) = target has a solution. The algorithm is that of NumPy's mem_overlap.c: a depth-first
/// search that is bounded by the range and the greatest common divisor of the remaining terms. It returns `true` when
/// the search takes too long.
class SumSearch {
 public:
  void add(int64_t coefficient, int64_t bound) {
    if (coefficient != 0 && bound > 0) terms_[size_++] = {coefficient, bound};
  }

  bool possible(int64_t target) {
    std::sort(terms_.begin(), terms_.begin() + size_,
              [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    join_equal();
    int64_t reach = 0, divisor = 0;
    for (int i = size_ - 1; i >= 0; --i) {
      reach_[i] = reach += terms_[i].coefficient * terms_[i].bound;
      divisor_[i] = divisor = std::gcd(divisor, terms_[i].coefficient);
    }
    return search(0, target);
  }

 private:
  void join_equal() {
    int last = 0;
    for (int i = 1; i < size_; ++i) {
      if (terms_[i].coefficient == terms_[last].coefficient)
        terms_[last].bound += terms_[i].bound;
      else
        terms_[++last] = terms_[i];
    }
    size_ = size_ ? last + 1 : 0;
  }

  bool search(int level, int64_t target) {
    if (level == size_) return target == 0;
    if (target < 0 || target > reach_[level] || target % divisor_[level] != 0) return false;
    if (--steps_left_ < 0) return true;
    const auto [coefficient, bound] = terms_[level];
    const int64_t rest = level + 1 < size_ ? reach_[level + 1] : 0;
    const int64_t least = target > rest ? (target - rest + coefficient - 1) / coefficient : 0;
    for (int64_t x = std::min(bound, target / coefficient); x >= least; --x)
      if (search(level + 1, target - coefficient * x)) return true;
    return false;
  }

  static constexpr int kMaxTerms = 2 * kMaxRank + 2;
  std::array<Term, kMaxTerms> terms_;
  std::array<int64_t, kMaxTerms> reach_, divisor_;
  int size_ = 0;
  int steps_left_ = 2000;
};

bool same_layout(const Array& a, const Array& b) {
  if (a.data() != b.data() || a.itemsize() != b.itemsize() || !(a.shape() == b.shape())) return false;
  for (int axis = 0; axis < a.ndim(); ++axis)
    if (a.shape(axis) != 1 && a.strides()[axis] != b.strides()[axis]) return false;
  return true;
}

/// Distance from the lowest to the highest element of an array, and from its first element down to the lowest.
struct Span {
  int64_t length = 0, below = 0;
};

Span add_terms(const Array& array, SumSearch& sum) {
  Span span;
  for (int axis = 0; axis < array.ndim(); ++axis) {
    const int64_t stride = array.strides()[axis], bound = array.shape(axis) - 1;
    if (bound == 0) continue;
    sum.add(stride < 0 ? -stride : stride, bound);
    span.length += bound * (stride < 0 ? -stride : stride);
    if (stride < 0) span.below += bound * -stride;
  }
  return span;
}

}  // namespace

Overlap overlap(const Array& a, const Array& b) {
  if (!a.may_overlap(b)) return Overlap::none;
  if (same_layout(a, b)) return Overlap::identical;
  // Byte u of an element of a is byte v of one of b: low_a + steps_a + u = low_b + steps_b + v. With steps_b and v
  // counted from their other ends, every coefficient is positive.
  SumSearch sum;
  const Span span_a = add_terms(a, sum), span_b = add_terms(b, sum);
  sum.add(1, a.itemsize() - 1);
  sum.add(1, b.itemsize() - 1);
  const int64_t low_a = static_cast<int64_t>(reinterpret_cast<uintptr_t>(a.data())) - span_a.below;
  const int64_t low_b = static_cast<int64_t>(reinterpret_cast<uintptr_t>(b.data())) - span_b.below;
  return sum.possible(low_b - low_a + span_b.length + b.itemsize() - 1) ? Overlap::partial : Overlap::none;
}

}  // namespace iruka
