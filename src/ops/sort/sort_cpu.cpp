// Sorts rows on the CPU: many rows with one thread each, few long ones with all threads.
#include "core/device.h"
#include "iruka/device.h"
#include "ops/sort/radix_sort.h"
#include "ops/sort/sort_keys.h"
#include "ops/sort/sort_rows.h"

namespace iruka::ops {
namespace {

/// Positions whose elements must be in place, ascending; empty for all.
using Wanted = std::span<const int64_t>;

/// Memory for records, from the CPU's pool.
template <class R>
class Records {
 public:
  explicit Records(int64_t n) : memory_(Array::empty({n * static_cast<int64_t>(sizeof(R))}, Dtype::uint8, cpu())) {}
  R* data() const { return static_cast<R*>(memory_.data()); }

 private:
  Array memory_;
};

/// Calls body(row, memory for `count` records, threads) for every row of n elements.
template <class R, class Body>
void for_rows(int64_t rows, int64_t n, int64_t count, const Body& body) {
  const int threads = thread_count();
  const auto take = [&](int64_t begin, int64_t end, int row_threads) {
    const Records<R> memory(count);
    for (int64_t row = begin; row < end; ++row) body(row, memory.data(), row_threads);
  };
  if (n > kSharedRecords<R> && rows < 8 * threads) return take(0, rows, threads);
  parallel_for(rows, std::max<int64_t>(1, kParallelRecords / 2 / n),
               [&](int64_t begin, int64_t end) { take(begin, end, 1); });
}

/// Copies a row and moves the elements of the requested ranks to their positions.
template <class R>
void select_records(const R* from, R* to, int64_t n, int threads, Wanted wanted) {
  Chunks(n, threads).each([=](int64_t, int64_t begin, int64_t end) {
    std::copy(from + begin, from + end, to + begin);
  });
  const int64_t numbers = move_nan_last(to, n);
  int64_t begin = 0;
  for (const int64_t k : wanted) {
    if (k >= numbers) break;
    vector_select(reinterpret_cast<typename NumberOf<R>::Type*>(to + begin), k - begin, numbers - begin);
    begin = k + 1;
    if (begin == numbers) break;
  }
}

template <class Kind>
void sort_values(const Array& x, const Array& out, const RowOrder& order) {
  using Record = Value<Kind>;
  const int64_t n = x.shape(x.ndim() - 1);
  const bool is_selection = kIsVectorRecord<Record> && !order.wanted.empty();
  for_rows<Record>(x.size() / n, n, needs_spare<Record>(n) && !is_selection ? n : 0,
                   [&](int64_t row, Record* spare, int threads) {
                     const auto* from = static_cast<const Record*>(x.data()) + row * n;
                     auto* to = static_cast<Record*>(out.data()) + row * n;
                     if constexpr (kIsVectorRecord<Record>)
                       if (is_selection) return select_records(from, to, n, threads, order.wanted);
                     sort_records(from, to, spare, n, threads);
                     if (order.descending) std::reverse(to, to + n);
                   });
}

/// The keys of a row's elements in the order of `indices`, if they are given; complements for a descending sort.
template <class Kind>
struct RowKeys {
  const typename Kind::Element* elements;
  const int64_t* indices;
  typename Kind::Key flip;
  typename Kind::Key operator[](int64_t i) const {
    return static_cast<typename Kind::Key>(Kind::equal_key(elements[indices ? indices[i] : i]) ^ flip);
  }
};

/// Calls set(i, key) for all n elements.
template <class Kind, class Set>
void for_keys(const RowKeys<Kind>& keys, const Chunks& chunks, const Set& set) {
  chunks.each([&](int64_t, int64_t begin, int64_t end) {
    if (keys.indices) {
      for (int64_t i = begin; i < end; ++i) set(i, keys[i]);
    } else {
      for (int64_t i = begin; i < end; ++i) set(i, RowKeys<Kind>{keys.elements, nullptr, keys.flip}[i]);
    }
  });
}

/// Turns places in a row into indices, in place.
template <class PlaceOf>
void set_indices(int64_t* to, const int64_t* indices, const Chunks& chunks, const PlaceOf& place_of) {
  chunks.each([&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = indices ? indices[place_of(i)] : place_of(i);
  });
}

template <class Kind>
void sort_packed(const RowKeys<Kind>& keys, int64_t* to, PackedIndex* memory, int64_t n, int threads, Wanted wanted) {
  const Chunks chunks(n, threads);
  auto* const sorted = reinterpret_cast<PackedIndex*>(to);
  for_keys(keys, chunks,
           [=](int64_t i, uint64_t key) { memory[i] = PackedIndex(key << 32 | static_cast<uint64_t>(i)); });
  if (wanted.empty())
    sort_records(memory, sorted, memory, n, threads);
  else
    select_records(memory, sorted, n, threads, wanted);
  set_indices(to, keys.indices, chunks, [=](int64_t i) { return static_cast<int64_t>(sorted[i] & UINT32_MAX); });
}

template <class Kind>
void sort_wide(const RowKeys<Kind>& keys, int64_t* to, KeyedIndex* memory, int64_t n, int threads) {
  const Chunks chunks(n, threads);
  KeyedIndex* const sorted = memory + n;
  for_keys(keys, chunks, [=](int64_t i, uint64_t key) { memory[i] = {key, static_cast<uint64_t>(i)}; });
  sort_records(memory, sorted, memory, n, threads);
  set_indices(to, keys.indices, chunks, [=](int64_t i) { return static_cast<int64_t>(sorted[i].index); });
}

template <class Kind>
void select_wide(const RowKeys<Kind>& keys, int64_t* to, uint64_t* memory, int64_t n, int threads, Wanted wanted) {
  for_keys(keys, Chunks(n, threads), [=, indices = keys.indices](int64_t i, uint64_t key) {
    memory[i] = key;
    to[i] = indices ? indices[i] : i;
  });
  int64_t begin = 0;
  for (const int64_t k : wanted) {
    vector_select_pairs(memory + begin, reinterpret_cast<uint64_t*>(to) + begin, k - begin, n - begin);
    begin = k + 1;
    if (begin == n) break;
  }
}

/// The arguments of argsort_rows_cpu.
struct IndexRows {
  const Array& x;
  const Array* previous;
  const Array& out;
  const RowOrder& order;
  int64_t length() const { return x.shape(x.ndim() - 1); }
};

/// Calls sort_row(keys, where the indices go, memory for `count` records, threads) for every row.
template <class R, class Kind, class SortRow>
void for_key_rows(const IndexRows& rows, int64_t count, const SortRow& sort_row) {
  using Key = typename Kind::Key;
  const int64_t n = rows.length();
  for_rows<R>(rows.x.size() / n, n, count, [&](int64_t row, R* memory, int threads) {
    const RowKeys<Kind> keys{static_cast<const typename Kind::Element*>(rows.x.data()) + row * n,
                             rows.previous ? static_cast<const int64_t*>(rows.previous->data()) + row * n : nullptr,
                             rows.order.descending ? static_cast<Key>(~Key{0}) : Key{0}};
    sort_row(keys, static_cast<int64_t*>(rows.out.data()) + row * n, memory, threads);
  });
}

template <class Kind>
void sort_indices(const IndexRows& rows) {
  const int64_t n = rows.length();
  const Wanted wanted = rows.order.wanted;
  if (sizeof(typename Kind::Key) <= sizeof(uint32_t) && n <= UINT32_MAX)
    for_key_rows<PackedIndex, Kind>(rows, n, [=](const auto& keys, int64_t* to, PackedIndex* memory, int threads) {
      sort_packed(keys, to, memory, n, threads, wanted);
    });
  else if (wanted.empty())
    for_key_rows<KeyedIndex, Kind>(rows, 2 * n, [=](const auto& keys, int64_t* to, KeyedIndex* memory, int threads) {
      sort_wide(keys, to, memory, n, threads);
    });
  else
    for_key_rows<uint64_t, Kind>(rows, n, [=](const auto& keys, int64_t* to, uint64_t* memory, int threads) {
      select_wide(keys, to, memory, n, threads, wanted);
    });
}

}  // namespace

void sort_rows_cpu(const Array& x, const Array& out, const RowOrder& order) {
  visit_real_key(x.dtype(), [&](auto kind) { sort_values<decltype(kind)>(x, out, order); });
}

void argsort_rows_cpu(const Array& x, int word, const Array* previous, const Array& out, const RowOrder& order) {
  const IndexRows rows{x, previous, out, order};
  if (visit_real_key(x.dtype(), [&](auto kind) { sort_indices<decltype(kind)>(rows); })) return;
  if (x.dtype() == Dtype::complex64) return sort_indices<Complex64Key>(rows);
  (word == 0 ? sort_indices<Complex128LowKey> : sort_indices<Complex128HighKey>)(rows);
}

}  // namespace iruka::ops
