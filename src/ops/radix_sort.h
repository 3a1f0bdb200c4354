// Stable sorting of records by unsigned keys on the CPU's threads.
// 1. A few records: insertion.
// 2. What fits a core's cache: two passes by 8 bits of the leading 16 bits in which keys differ, then each run of records
//    that agree in those bits by itself.
// 3. More: one pass to buckets by leading bits, then each bucket by itself, several at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.h"

namespace iruka::ops {

template <class K, class I>
struct KeyedIndex {
  using Key = K;
  K key;
  I index;
};

template <class K>
K key_of(K record)
  requires std::is_unsigned_v<K>
{
  return record;
}
template <class K, class I>
K key_of(const KeyedIndex<K, I>& record) {
  return record.key;
}

inline constexpr int64_t kFewRecords = 24;
/// Records sorted in cache, and records of one bucket.
inline constexpr int64_t kCachedRecords = 1 << 15, kBucketRecords = 1 << 13;
inline constexpr int kMostBucketBits = 11;
/// Records that are worth another thread.
inline constexpr int64_t kParallelRecords = 1 << 16;

template <class R>
void insertion_sort(R* records, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const R record = records[i];
    const auto key = key_of(record);
    int64_t to = i;
    for (; to > 0 && key_of(records[to - 1]) > key; --to) records[to] = records[to - 1];
    records[to] = record;
  }
}

/// The smallest and largest key.
template <class K>
struct KeyRange {
  K low = static_cast<K>(~K{0}), high = 0;
  void add(K key) {
    low = std::min(low, key);
    high = std::max(high, key);
  }
  void add(const KeyRange& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
  int bits() const { return static_cast<int>(std::bit_width(static_cast<K>(high - low))); }
};

/// Moves records to `to` by the 8 bits at `shift` of key - low. `counts` are those of each digit.
template <class R, class K>
void scatter_by_digit(const R* from, R* to, int64_t n, K low, int shift, uint32_t* counts) {
  uint32_t next = 0;
  for (int digit = 0; digit < 256; ++digit) next += std::exchange(counts[digit], next);
  for (int64_t i = 0; i < n; ++i)
    to[counts[static_cast<K>(key_of(from[i]) - low) >> shift & 255]++] = from[i];
}

/// Form 2. `spare` is as long as `records`.
template <class R>
void sort_cached(R* records, R* spare, int64_t n) {
  using K = decltype(key_of(*records));
  if (n <= kFewRecords) return insertion_sort(records, n);
  KeyRange<K> range;
  for (int64_t i = 0; i < n; ++i) range.add(key_of(records[i]));
  const int bits = range.bits(), shift = std::max(bits - 16, 0);
  if (bits == 0) return;
  uint32_t counts[2][256] = {};
  for (int64_t i = 0; i < n; ++i) {
    const K digits = static_cast<K>(key_of(records[i]) - range.low) >> shift;
    ++counts[0][digits & 255];
    ++counts[1][digits >> 8 & 255];
  }
  scatter_by_digit(records, spare, n, range.low, shift, counts[0]);
  if (bits <= 8) {
    std::copy_n(spare, n, records);
    return;
  }
  scatter_by_digit(spare, records, n, range.low, shift + 8, counts[1]);
  if (shift == 0) return;
  for (int64_t begin = 0, end; begin < n; begin = end) {
    const K leading = static_cast<K>(key_of(records[begin]) - range.low) >> shift;
    for (end = begin + 1; end < n && static_cast<K>(key_of(records[end]) - range.low) >> shift == leading;) ++end;
    if (end - begin > 1) sort_cached(records + begin, spare + begin, end - begin);
  }
}

/// Positions whose records must be in place when a sort is done; all of them where none are named.
using Wanted = std::span<const int64_t>;

inline bool is_wanted(Wanted wanted, int64_t begin, int64_t end) {
  return wanted.empty() || std::ranges::any_of(wanted, [=](int64_t k) { return begin <= k && k < end; });
}

/// How one pass of form 3 shares the records among threads and buckets.
struct BucketPass {
  int64_t chunks, chunk_length;
  int bucket_bits;
  std::vector<int64_t> places;  ///< [chunk][bucket]: where the chunk's next record of the bucket goes

  BucketPass(int64_t n, int threads)
      : chunks(std::clamp<int64_t>(n / kParallelRecords, 1, threads)),
        chunk_length((n + chunks - 1) / chunks),
        bucket_bits(std::clamp(static_cast<int>(std::bit_width(static_cast<uint64_t>(n / kBucketRecords))), 1,
                               kMostBucketBits)),
        places(static_cast<size_t>(chunks << bucket_bits)) {}
  int64_t buckets() const { return int64_t{1} << bucket_bits; }
  int64_t* chunk(int64_t k) { return places.data() + (k << bucket_bits); }

  /// Calls body(chunk, begin, end) for every chunk.
  template <class Body>
  void for_chunks(int64_t n, Body&& body) {
    parallel_for(chunks, 1, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; ++k) body(k, k * chunk_length, std::min(n, (k + 1) * chunk_length));
    });
  }
  /// Counts become places; gives where each bucket begins, and n.
  std::vector<int64_t> place() {
    std::vector<int64_t> starts;
    int64_t next = 0;
    for (int64_t bucket = 0; bucket < buckets(); ++bucket) {
      starts.push_back(next);
      for (int64_t k = 0; k < chunks; ++k) next += std::exchange(chunk(k)[bucket], next);
    }
    starts.push_back(next);
    return starts;
  }
};

/// The source of a bucket's records: one type, however deep buckets lie.
template <class R>
struct RecordsFrom {
  const R* records;
  R operator()(int64_t i) const { return records[i]; }
};

/// Sorts the `n` records source(0), source(1)... and hands them on in runs: sink(first position, records, how many).
/// `records` and `spare` are memory for n records each; `threads` is how many may work.
template <class R, class Source, class Sink>
void sort_records(const Source& source, R* records, R* spare, int64_t n, int threads, Wanted wanted, int64_t at,
                  const Sink& sink) {
  using K = decltype(key_of(*records));
  if (n <= kCachedRecords) {
    for (int64_t i = 0; i < n; ++i) records[i] = source(i);
    sort_cached(records, spare, n);
    return sink(at, records, n);
  }
  BucketPass pass(n, threads);
  std::vector<KeyRange<K>> ranges(static_cast<size_t>(pass.chunks));
  pass.for_chunks(n, [&](int64_t k, int64_t begin, int64_t end) {
    KeyRange<K> own;
    for (int64_t i = begin; i < end; ++i) own.add(key_of(source(i)));
    ranges[static_cast<size_t>(k)] = own;
  });
  KeyRange<K> range;
  for (const KeyRange<K>& own : ranges) range.add(own);
  const int shift = std::max(range.bits() - pass.bucket_bits, 0);
  const auto bucket_of = [low = range.low, shift](R record) {
    return static_cast<int64_t>(static_cast<K>(key_of(record) - low) >> shift);
  };
  pass.for_chunks(n, [&](int64_t k, int64_t begin, int64_t end) {
    int64_t* counts = pass.chunk(k);
    for (int64_t i = begin; i < end; ++i) ++counts[bucket_of(source(i))];
  });
  const std::vector<int64_t> starts = pass.place();
  pass.for_chunks(n, [&](int64_t k, int64_t begin, int64_t end) {
    int64_t* places = pass.chunk(k);
    for (int64_t i = begin; i < end; ++i) {
      const R record = source(i);
      records[places[bucket_of(record)]++] = record;
    }
  });
  const auto is_large = [&](int64_t begin, int64_t end) {
    return end - begin > 4 * kCachedRecords && shift > 0 && is_wanted(wanted, at + begin, at + end);
  };
  parallel_for(pass.buckets(), threads > 1 ? 1 : pass.buckets(), [&](int64_t first, int64_t last) {
    for (int64_t bucket = first; bucket < last; ++bucket) {
      const int64_t begin = starts[static_cast<size_t>(bucket)], end = starts[static_cast<size_t>(bucket) + 1];
      if (begin == end || is_large(begin, end)) continue;
      if (shift > 0 && is_wanted(wanted, at + begin, at + end)) sort_cached(records + begin, spare + begin, end - begin);
      sink(at + begin, records + begin, end - begin);
    }
  });
  for (int64_t bucket = 0; bucket < pass.buckets(); ++bucket) {
    const int64_t begin = starts[static_cast<size_t>(bucket)], end = starts[static_cast<size_t>(bucket) + 1];
    if (!is_large(begin, end)) continue;
    sort_records(RecordsFrom<R>{records + begin}, spare + begin, records + begin, end - begin,
                 threads, wanted, at + begin, sink);
  }
}

}  // namespace iruka::ops
