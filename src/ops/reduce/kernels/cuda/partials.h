// Joins the partial results of a block's threads, and those of an output's chunks.
#pragma once

namespace iruka::reduction {

// Loops are unrolled only where that makes them faster, because unrolled code takes long to compile.

/// Joins rows of `width` partial results into the first row, in a tree of fixed shape.
template <class Partials>
inline void fold(typename Partials::Partial* cells, int rows, int width) {
#pragma unroll 1
  for (; rows > 1; rows = (rows + 1) / 2) {
    const int half = (rows + 1) / 2, count = (rows - half) * width;
    __syncthreads();
#pragma unroll 1
    for (int k = threadIdx.x; k < count; k += Partials::kThreads)
      cells[k] = Partials::join(cells[k], cells[k + half * width]);
  }
  __syncthreads();
}

/// Joins every `lanes`-th chunk of an output, four loads at a time.
template <class Partials, class Arguments>
inline typename Partials::Partial joined(const Arguments& a, ptrdiff_t output, typename Partials::Index lane,
                                         int lanes) {
  using Index = typename Partials::Index;
  using Partial = typename Partials::Partial;
  Partial value = Partials::start_partial();
#pragma unroll 1
  for (; lane < (Index)a.chunks; lane += 4 * lanes) {
    Partial parts[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const Index chunk = lane + u * lanes;
      parts[u] = Partials::start_partial();
      if (chunk < (Index)a.chunks) parts[u] = ((const Partial*)a.partial)[chunk * (ptrdiff_t)a.outputs + output];
    }
    value =
        Partials::join(value, Partials::join(Partials::join(parts[0], parts[1]), Partials::join(parts[2], parts[3])));
  }
  return value;
}

/// The outer reduced rows of the chunks in `group`.
template <class Index, bool kIsChunked>
struct ChunkRows {
  Index first = 0, last;
  template <class Arguments>
  IRUKA_INLINE ChunkRows(const Arguments& a, [[maybe_unused]] Index group) : last((Index)a.rows) {
    if constexpr (kIsChunked) {
      first = group * (Index)a.rows_per_chunk;
      last = min((Index)a.rows, first + (Index)a.rows_per_chunk);
    }
  }
};

}  // namespace iruka::reduction
