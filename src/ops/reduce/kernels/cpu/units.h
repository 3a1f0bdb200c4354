// The work of one unit, and the second launch, which joins the partial results of an output.
#pragma once

#include "ops/reduce/kernels/arguments.h"

namespace iruka::reduction {

/// The chunk and the output of a unit.
template <bool kIsChunked>
struct Unit {
  ptrdiff_t chunk = 0, place;
  template <class Arguments>
  IRUKA_INLINE Unit(const Arguments& a, ptrdiff_t unit) : place(unit) {
    if constexpr (kIsChunked) chunk = unit % a.chunks, place = unit / a.chunks;
  }
};

/// The outer reduced rows of the chunks in `group`.
template <bool kIsChunked>
struct RowRange {
  ptrdiff_t first = 0, last;
  template <class Arguments>
  IRUKA_INLINE RowRange(const Arguments& a, [[maybe_unused]] ptrdiff_t group) : last(a.rows) {
    if constexpr (kIsChunked) {
      first = group * a.rows_per_chunk;
      if (a.rows - first >= a.rows_per_chunk) last = first + a.rows_per_chunk;
    }
  }
};

constexpr ptrdiff_t kJoined = 64;

/// Joins chunks in a tree of fixed shape, for `count` neighbouring outputs.
template <class Partials>
__attribute__((noinline)) void join(typename Partials::Partial* to, const typename Partials::Partial* p,
                                    ptrdiff_t chunks, ptrdiff_t outputs, ptrdiff_t count) {
  if (chunks == 1) {
    for (ptrdiff_t k = 0; k < count; ++k) to[k] = p[k];
    return;
  }
  const ptrdiff_t half = chunks / 2;
  typename Partials::Partial others[kJoined];
  join<Partials>(to, p, half, outputs, count);
  join<Partials>(others, p + half * outputs, chunks - half, outputs, count);
  for (ptrdiff_t k = 0; k < count; ++k) to[k] = Partials::join(to[k], others[k]);
}

template <class Partials, class Arguments>
IRUKA_INLINE void join_chunks(const Arguments& a, ptrdiff_t begin, ptrdiff_t end) {
  using Partial = typename Partials::Partial;
  for (ptrdiff_t o = begin; o < end; o += kJoined) {
    const ptrdiff_t count = end - o < kJoined ? end - o : kJoined;
    Partial joined[kJoined];
    join<Partials>(joined, (const Partial*)a.partial + o, a.chunks, a.outputs, count);
    for (ptrdiff_t k = 0; k < count; ++k)
      ((typename Partials::Out*)a.out)[o + k] = Partials::finish(joined[k], a.count);
  }
}

}  // namespace iruka::reduction
