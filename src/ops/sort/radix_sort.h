// Stable sorting of records by unsigned keys on the CPU's threads.
// 1. A few records: insertion.
// 2. What fits a core's cache: numbers of 32 and 64 bits by vector instructions; others by two passes over the leading
//    16 bits in which keys differ, then each run of records that agree in those bits by itself.
// 3. More: one pass to buckets by leading bits, then each bucket by itself, several at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "ops/sort/vector_sort.h"

namespace iruka::ops {

/// A record that is an element of the array.
template <class Kind>
struct Value {
  typename Kind::Element bits;
};
template <class Kind>
typename Kind::Key key_of(Value<Kind> value) {
  return Kind::key(value.bits);
}

/// A key of up to 32 bits above an index: records are distinct, so every sort of them is stable.
enum PackedIndex : uint64_t {};
inline uint64_t key_of(PackedIndex record) { return record; }

struct KeyedIndex {
  uint64_t key, index;
};
inline uint64_t key_of(const KeyedIndex& record) { return record.key; }

template <class R>
using KeyOf = decltype(key_of(std::declval<R>()));

/// The type of the numbers that records are, if vector instructions sort them; else void.
template <class R>
struct NumberOf {
  using Type = void;
};
template <class Kind>
struct NumberOf<Value<Kind>> {
  using Type = typename Kind::Number;
};
template <>
struct NumberOf<PackedIndex> {
  using Type = uint64_t;
};
template <class R>
inline constexpr bool kIsVectorRecord = !std::is_void_v<typename NumberOf<R>::Type>;

inline constexpr int64_t kFewRecords = 24;
/// Records sorted in cache.
template <class R>
inline constexpr int64_t kCachedRecords = kIsVectorRecord<R> ? 1 << 15 : 1 << 12;
/// Threads share rows that are longer than this.
template <class R>
inline constexpr int64_t kSharedRecords = !kIsVectorRecord<R> ? 1 << 15
                                          : sizeof(R) == 4    ? 1 << 17
                                                              : 1 << 16;
/// One thread sorts a row of up to this length directly.
template <class R>
inline constexpr int64_t kAloneRecords = kIsVectorRecord<R> ? 1 << 21 : kCachedRecords<R>;
/// Form 3: records of one bucket, buckets, and bins that buckets are made of.
inline constexpr int64_t kBucketRecords = 1 << 12;
inline constexpr int64_t kMostBuckets = 1 << 9;
inline constexpr int kBinRecordsBits = 5, kFewestBinBits = 8, kMostBinBits = 16;
/// The records of one thread; fewer than a chunk's counters can count.
inline constexpr int64_t kParallelRecords = 1 << 14, kMostChunkRecords = 1 << 30;

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
  for (int64_t i = 0; i < n; ++i) to[counts[static_cast<K>(key_of(from[i]) - low) >> shift & 255]++] = from[i];
}

/// Form 2 without vector instructions. `spare` is as long as `records`.
template <class R>
void sort_by_digits(R* records, R* spare, int64_t n) {
  using K = KeyOf<R>;
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
    if (end - begin > 1) sort_by_digits(records + begin, spare + begin, end - begin);
  }
}

/// Moves NaN to the end and returns the number of other elements.
template <class Kind>
int64_t move_nan_last(Value<Kind>* values, int64_t n) {
  if constexpr (Kind::kHasNan) {
    int64_t nans = 0;
    for (int64_t i = 0; i < n; ++i) nans += Kind::is_nan(values[i].bits);
    if (nans > 0) return std::partition(values, values + n, [](auto x) { return !Kind::is_nan(x.bits); }) - values;
  }
  return n;
}
inline int64_t move_nan_last(PackedIndex*, int64_t n) { return n; }

/// Forms 1 and 2. `spare` is as long as `records`, where it is needed.
template <class R>
void sort_cached(R* records, R* spare, int64_t n) {
  if constexpr (kIsVectorRecord<R>)
    vector_sort(reinterpret_cast<typename NumberOf<R>::Type*>(records), move_nan_last(records, n));
  else
    sort_by_digits(records, spare, n);
}

/// Whether n records are sorted by form 3.
template <class R>
bool needs_buckets(int64_t n, int threads) {
  return n > (threads > 1 ? std::min(kSharedRecords<R>, kAloneRecords<R>) : kAloneRecords<R>);
}

/// Whether sorting n records needs memory for as many.
template <class R>
bool needs_spare(int64_t n) {
  return !kIsVectorRecord<R> || n > kSharedRecords<R>;
}

/// How threads share a long row.
struct Chunks {
  int64_t n, count, length;
  Chunks(int64_t n, int threads)
      : n(n),
        count(std::max(std::clamp<int64_t>(n / kParallelRecords, 1, threads), n / kMostChunkRecords + 1)),
        length((n + count - 1) / count) {}

  /// Calls body(chunk, begin, end) for every chunk.
  template <class Body>
  void each(Body&& body) const {
    parallel_for(count, 1, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; ++k) body(k, k * length, std::min(n, (k + 1) * length));
    });
  }
};

/// One pass of form 3. Keys fall into bins by leading bits; neighbouring bins make buckets of about the same size, so
/// that keys of any distribution are shared out evenly. Another thread may change the records between the passes: bins
/// and places stay in bounds, whatever they hold.
template <class R>
class BucketPass {
  using K = KeyOf<R>;

 public:
  BucketPass(const R* records, int64_t n, int threads)
      : records_(records),
        chunks_(n, threads),
        bin_bits_(std::clamp(static_cast<int>(std::bit_width(static_cast<uint64_t>(n))) - kBinRecordsBits,
                             kFewestBinBits, kMostBinBits)),
        counts_(static_cast<size_t>(chunks_.count << bin_bits_)),
        bucket_of_bin_(size_t{1} << bin_bits_) {
    find_range();
    count();
    make_buckets();
    make_places();
  }

  int64_t buckets() const { return static_cast<int64_t>(is_one_bin_.size()); }
  int64_t begin(int64_t bucket) const { return starts_[static_cast<size_t>(bucket)]; }
  int64_t size(int64_t bucket) const { return starts_[static_cast<size_t>(bucket) + 1] - begin(bucket); }
  /// Whether the bucket's keys are all equal.
  bool is_even(int64_t bucket) const { return shift_ == 0 && is_one_bin_[static_cast<size_t>(bucket)]; }

  void scatter(R* to) const {
    const auto bin = bin_of();
    chunks_.each([&, records = records_, bucket_of_bin = bucket_of_bin_.data(), last = chunks_.n - 1](
                     int64_t k, int64_t begin, int64_t end) {
      const auto first = places_.begin() + k * buckets();
      std::vector<int64_t> places(first, first + buckets());  // a copy of its own, to avoid false sharing
      for (int64_t i = begin; i < end; ++i) {
        const R record = records[i];
        to[std::min(places[bucket_of_bin[bin(key_of(record))]]++, last)] = record;
      }
    });
  }

 private:
  auto bin_of() const {
    return [low = low_, shift = shift_, mask = bins() - 1](K key) {
      return static_cast<size_t>(static_cast<K>(key - low) >> shift) & mask;
    };
  }
  size_t bins() const { return bucket_of_bin_.size(); }
  const uint32_t* counts(int64_t chunk) const { return counts_.data() + (chunk << bin_bits_); }

  void find_range() {
    std::vector<KeyRange<K>> ranges(static_cast<size_t>(chunks_.count));
    chunks_.each([&](int64_t k, int64_t begin, int64_t end) {
      KeyRange<K> own;
      for (int64_t i = begin; i < end; ++i) own.add(key_of(records_[i]));
      ranges[static_cast<size_t>(k)] = own;
    });
    KeyRange<K> range;
    for (const KeyRange<K>& own : ranges) range.add(own);
    low_ = range.low;
    shift_ = std::max(range.bits() - bin_bits_, 0);
  }

  void count() {
    chunks_.each([&, bin = bin_of(), records = records_](int64_t k, int64_t begin, int64_t end) {
      uint32_t* const counts = counts_.data() + (k << bin_bits_);
      for (int64_t i = begin; i < end; ++i) ++counts[bin(key_of(records[i]))];
    });
  }

  void make_buckets() {
    const int64_t target = std::max(kBucketRecords, chunks_.n / kMostBuckets);
    int64_t size = target, place = 0;
    for (size_t bin = 0; bin < bins(); ++bin) {
      int64_t count = 0;
      for (int64_t k = 0; k < chunks_.count; ++k) count += counts(k)[bin];
      if (count > 0 && size + count > target) {
        starts_.push_back(place);
        is_one_bin_.push_back(true);
        size = 0;
      } else if (count > 0) {
        is_one_bin_.back() = false;
      }
      bucket_of_bin_[bin] = static_cast<uint16_t>(starts_.size() - (starts_.empty() ? 0 : 1));
      size += count;
      place += count;
    }
    starts_.push_back(place);
  }

  /// Where each chunk's records of each bucket go.
  void make_places() {
    places_.resize(static_cast<size_t>(chunks_.count * buckets()));
    for (int64_t k = 0; k < chunks_.count; ++k)
      for (size_t bin = 0; bin < bins(); ++bin)
        places_[static_cast<size_t>(k * buckets() + bucket_of_bin_[bin])] += counts(k)[bin];
    int64_t next = 0;
    for (int64_t bucket = 0; bucket < buckets(); ++bucket)
      for (int64_t k = 0; k < chunks_.count; ++k)
        next += std::exchange(places_[static_cast<size_t>(k * buckets() + bucket)], next);
  }

  const R* const records_;
  const Chunks chunks_;
  const int bin_bits_;
  int shift_ = 0;
  K low_ = 0;
  std::vector<uint32_t> counts_;  ///< [chunk][bin]
  std::vector<uint16_t> bucket_of_bin_;
  std::vector<int64_t> starts_, places_;  ///< [bucket], and the end; [chunk][bucket]
  std::vector<bool> is_one_bin_;
};

/// Writes the sorted records to `to`. `spare` is memory for n records, if they need it, and may be `from`; `threads` is
/// how many may work.
template <class R>
void sort_records(const R* from, R* to, R* spare, int64_t n, int threads) {
  if (!needs_buckets<R>(n, threads)) {
    std::copy_n(from, n, to);
    return sort_cached(to, spare, n);
  }
  BucketPass<R> pass(from, n, threads);
  pass.scatter(to);
  const auto is_large = [&](int64_t bucket) {
    return pass.size(bucket) > std::max(4 * kCachedRecords<R>, n / 16) && !pass.is_even(bucket);
  };
  parallel_for(pass.buckets(), threads > 1 ? 1 : pass.buckets(), [&](int64_t first, int64_t last) {
    for (int64_t bucket = first; bucket < last; ++bucket) {
      const int64_t begin = pass.begin(bucket);
      if (!is_large(bucket) && !pass.is_even(bucket)) sort_cached(to + begin, spare + begin, pass.size(bucket));
    }
  });
  for (int64_t bucket = 0; bucket < pass.buckets(); ++bucket) {
    if (!is_large(bucket)) continue;
    const int64_t begin = pass.begin(bucket), size = pass.size(bucket);
    sort_records(to + begin, spare + begin, to + begin, size, threads);
    std::copy_n(spare + begin, size, to + begin);
  }
}

}  // namespace iruka::ops
