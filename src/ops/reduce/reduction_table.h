// One row per reduction: how an element is mapped, how two results are combined, and how the last one is finished.
#pragma once

#include <span>

#include "iruka/ops.h"

namespace iruka {
namespace ops {

/// Which dtypes a reduction accumulates in and returns, for an input's dtype.
enum class ResultRule : uint8_t {
  sum,       ///< bool and integers: 64 bits; float16: in float32; float32: in float64; returns the input's float dtype
  mean,      ///< as sum, but integers accumulate and return float64
  same,      ///< the input's dtype
  boolean,   ///< bool
  count,     ///< int64
  length,    ///< accumulates as mean; returns the real dtype of a float, float64 for integers
  index,     ///< int64: the index of the chosen element
  moments,   ///< carries count, mean and squared distances from it; returns as length
  numbers,   ///< GPU: carries the sum and the number of what is not NaN; accumulates and returns as mean
  extremes,  ///< GPU: carries the smallest and the largest element; returns the input's dtype
};

/// The initial value of an accumulator, which changes no result.
enum class Start : uint8_t { zero, one, ones, highest, lowest, nan };  // ones: every bit set

/// Which of the keywords axis, dtype, out, keepdims, initial and where the public function takes, as NumPy's does.
/// python/src/reductions.cpp has the lists.
enum class Keywords : uint8_t {
  none,       ///< no public function: other functions use the row
  sum,        ///< all
  mean,       ///< all but initial
  selection,  ///< all but dtype
  truth,      ///< all but dtype and initial
  position,   ///< one axis, out and keepdims
  count,      ///< axis and keepdims
};

}  // namespace ops

struct ReductionFunction::Row {
  const char* name;
  ops::Keywords keywords;
  ops::ResultRule rule;
  ops::Start start;
  bool has_identity;  ///< whether an empty axis gives the start value, or a ValueError
  /// The texts are compiled for scalars and for vectors of the kernel language, so they may use only what both have.
  const char* map;      ///< of x: cast(x) is x as the accumulator, nonzero(x) is 0 or 1
  const char* combine;  ///< of two accumulators a and b, a from earlier elements
  /// The result from the accumulator a and the number of elements, count. For moments, from m and the divisor of their
  /// squares.
  const char* finish;
  const char* documentation;
  enum Trait : unsigned {
    kMethod = 1 << 0,  ///< arrays have a method of this name
    /// The result is one of the input's values, selected by combine; a tree of additions is useless then.
    kExact = 1 << 1,
    /// The row adds its elements, or 0 for NaN, unchanged. Its map is then "cast(...)". A few such elements may be
    /// added in a narrower type than the accumulator.
    kAddsElements = 1 << 2,
    kIgnoresNan = 1 << 3,           ///< the row leaves out what is NaN
    kDecidedByOneElement = 1 << 4,  ///< one element that differs from the start decides the result
  };
  unsigned traits = 0;
  bool has(Trait trait) const { return traits & trait; }
};

namespace ops {

std::span<const ReductionFunction::Row> reduction_table();

/// Whether the accumulator is a Pair, so that one pass does the work of two rows.
inline bool carries_pair(ResultRule rule) { return rule == ResultRule::numbers || rule == ResultRule::extremes; }

}  // namespace ops
}  // namespace iruka
