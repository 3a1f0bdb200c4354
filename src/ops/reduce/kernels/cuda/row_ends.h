// One thread's part of a row: whole words where they are aligned, elements at the row's ends.
#pragma once

namespace iruka::reduction {

/// Where the words of a row begin, and how many elements lie before and after them.
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
  /// The place in the row of element `k` of those outside the words.
  IRUKA_INLINE int edge(int k) const { return k < head ? k : k + words * Types::kLanes; }
};

/// Loads the words k, k + lanes... that there are, as many as a thread has under way.
template <class Types>
IRUKA_INLINE void load_words(typename Types::Word* word, const char* p, int k, int lanes, int words, ptrdiff_t stride) {
#pragma unroll
  for (int u = 0; u < Types::kLoads; ++u)
    if (k + u * lanes < words) word[u] = Types::load(p, k + u * lanes, stride);
}

}  // namespace iruka::reduction
