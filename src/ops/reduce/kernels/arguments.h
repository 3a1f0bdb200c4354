// The argument block of a reduction; arguments_of() in reduction.cpp fills it.
#pragma once

namespace iruka::reduction {

/// The axes outside the innermost one: all kept, or all reduced.
template <int kRank>
struct Axes {
  static constexpr int kLength = kRank > 0 ? kRank : 1;
  ptrdiff_t extent[kLength], stride[kLength], step[kLength];

  /// Advances an address, and a number of elements, to element `number`.
  template <class Index, int axis = kRank - 1>
  IRUKA_INLINE void locate(Index number, const char*& p, ptrdiff_t& steps) const {
    if constexpr (axis == 0) {
      p += (ptrdiff_t)number * stride[0];
      steps += (ptrdiff_t)number * step[0];
    } else if constexpr (axis > 0) {
      const Index length = (Index)extent[axis], at = number % length;
      p += (ptrdiff_t)at * stride[axis];
      steps += (ptrdiff_t)at * step[axis];
      locate<Index, axis - 1>(number / length, p, steps);
    }
  }
};

template <int kKeptRank, int kReducedRank>
struct Arguments {
  static constexpr bool kHasRows = kReducedRank > 0;
  const char* x;
  char *out, *partial;
  ptrdiff_t stage, chunks, outputs;
  double count;
  ptrdiff_t out_offset, rows, rows_per_chunk, parts, part_length, strips, extent, stride, step;
  Axes<kKeptRank> kept;
  Axes<kReducedRank> reduced;
};

}  // namespace iruka::reduction
