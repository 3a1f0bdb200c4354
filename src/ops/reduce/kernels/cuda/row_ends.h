// One thread's part of a row: aligned words in the middle, elements at both ends.
#pragma once

namespace iruka::reduction {

/// Where a row's words begin, and how many elements are outside of them.
template <class Types>
struct RowEnds {
  int head, words, edges;
  IRUKA_INLINE RowEnds(const char* p, int n) {
    constexpr int kLanes = Types::kLanes;
    head = kLanes > 1 ? int((0 - (size_t)p) % sizeof(typename Types::Word) / sizeof(typename Types::In)) : 0;
    if (head > n) head = n;
    words = (n - head) / kLanes;
    edges = n - words * kLanes;
  }
  /// The index in the row of element `k` of those outside the words.
  IRUKA_INLINE int edge(int k) const { return k < head ? k : k + words * Types::kLanes; }
};

/// Loads the existing ones of the words k, k + lanes..., as many as a thread has in flight.
template <class Types>
IRUKA_INLINE void load_words(typename Types::Word* word, const char* p, int k, int lanes, int words, ptrdiff_t stride) {
#pragma unroll
  for (int u = 0; u < Types::kLoads; ++u)
    if (k + u * lanes < words) word[u] = Types::load(p, k + u * lanes, stride);
}

}  // namespace iruka::reduction
