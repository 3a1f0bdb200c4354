// Rows sorted on the CPU: many rows by a thread each, few long ones by all threads.
#include "core/device.h"
#include "iruka/device.h"
#include "ops/radix_sort.h"
#include "ops/sort_keys.h"
#include "ops/sort_rows.h"

namespace iruka::ops {
namespace {

/// Memory for records, from the CPU's pool.
template <class R>
class Records {
 public:
  explicit Records(int64_t n) : memory_(Array::empty({n * static_cast<int64_t>(sizeof(R))}, Dtype::uint8, cpu())) {}
  R* data() const { return static_cast<R*>(memory_.data()); }

 private:
  Array memory_;
};

/// Calls sort_row(row, records, spare, threads) for every row. The two are memory for one row's records.
template <class R, class SortRow>
void for_rows(int64_t rows, int64_t n, const SortRow& sort_row) {
  const int threads = thread_count();
  const auto take = [&](int64_t begin, int64_t end, int row_threads) {
    const Records<R> memory(2 * n);
    for (int64_t row = begin; row < end; ++row) sort_row(row, memory.data(), memory.data() + n, row_threads);
  };
  if (n >= 2 * kParallelRecords && rows < 8 * threads) return take(0, rows, threads);
  parallel_for(rows, std::max<int64_t>(1, kParallelRecords / 8 / n),
               [&](int64_t begin, int64_t end) { take(begin, end, 1); });
}

/// `kReversed` keys are complements.
template <class K, bool kReversed>
K turned(K key) {
  return kReversed ? static_cast<K>(~key) : key;
}

template <class Kind, bool kReversed>
void sort_values(const Array& x, const Array& out, Wanted wanted) {
  using Bits = typename Kind::Element;
  using Key = typename Kind::Key;
  const int64_t n = x.shape(x.ndim() - 1);
  for_rows<Key>(x.size() / n, n, [&](int64_t row, Key* records, Key* spare, int threads) {
    const Bits* from = static_cast<const Bits*>(x.data()) + row * n;
    Bits* to = static_cast<Bits*>(out.data()) + row * n;
    sort_records([=](int64_t i) { return turned<Key, kReversed>(Kind::key(from[i])); }, records, spare, n, threads,
                 wanted, 0,
                 [=](int64_t at, const Key* sorted, int64_t count) {
                   for (int64_t i = 0; i < count; ++i) to[at + i] = Kind::bits(turned<Key, kReversed>(sorted[i]));
                 });
  });
}

/// Keys of less than 32 bits are widened: a record is 8 or 16 bytes.
template <class Kind, class Index, bool kReversed>
void sort_indices(const Array& x, const Array* previous, const Array& out, Wanted wanted) {
  using Element = typename Kind::Element;
  using Key = std::conditional_t<sizeof(typename Kind::Key) == 8 || sizeof(Index) == 8, uint64_t, uint32_t>;
  using Record = KeyedIndex<Key, Index>;
  const int64_t n = x.shape(x.ndim() - 1);
  for_rows<Record>(x.size() / n, n, [&](int64_t row, Record* records, Record* spare, int threads) {
    const Element* from = static_cast<const Element*>(x.data()) + row * n;
    const int64_t* indices = previous ? static_cast<const int64_t*>(previous->data()) + row * n : nullptr;
    int64_t* to = static_cast<int64_t*>(out.data()) + row * n;
    const auto source = [=](int64_t i) {
      const int64_t index = indices ? indices[i] : i;
      return Record{turned<typename Kind::Key, kReversed>(Kind::equal_key(from[index])), static_cast<Index>(index)};
    };
    sort_records(source, records, spare, n, threads, wanted, 0, [=](int64_t at, const Record* sorted, int64_t count) {
      for (int64_t i = 0; i < count; ++i) to[at + i] = static_cast<int64_t>(sorted[i].index);
    });
  });
}

template <class Kind>
void sort_indices_of(const Array& x, const Array* previous, const Array& out, const RowOrder& order) {
  const bool is_huge = x.shape(x.ndim() - 1) > UINT32_MAX;
  const auto sort = is_huge
                        ? order.descending ? sort_indices<Kind, uint64_t, true> : sort_indices<Kind, uint64_t, false>
                    : order.descending ? sort_indices<Kind, uint32_t, true>
                                       : sort_indices<Kind, uint32_t, false>;
  sort(x, previous, out, order.wanted);
}

}  // namespace

void sort_rows_cpu(const Array& x, const Array& out, const RowOrder& order) {
  visit_real_key(x.dtype(), [&](auto kind) {
    using Kind = decltype(kind);
    (order.descending ? sort_values<Kind, true> : sort_values<Kind, false>)(x, out, order.wanted);
  });
}

void argsort_rows_cpu(const Array& x, int word, const Array* previous, const Array& out, const RowOrder& order) {
  if (visit_real_key(x.dtype(), [&](auto kind) { sort_indices_of<decltype(kind)>(x, previous, out, order); })) return;
  if (x.dtype() == Dtype::complex64) return sort_indices_of<Complex64Key>(x, previous, out, order);
  (word == 0 ? sort_indices_of<Complex128LowKey> : sort_indices_of<Complex128HighKey>)(x, previous, out, order);
}

}  // namespace iruka::ops
