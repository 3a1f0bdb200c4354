// Sorting along an axis: moves it to the end, sorts the rows on their device, moves it back.
#include "iruka/sorting.h"

#include <algorithm>
#include <vector>

#include "core/once.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "ops/sort/sort_rows.h"

namespace iruka {
namespace {

using ops::RowOrder, ops::RowSorting;

constexpr RowSorting kCpu{ops::sort_rows_cpu, ops::argsort_rows_cpu};
constexpr RowSorting kCuda{ops::sort_rows_cuda, ops::argsort_rows_cuda};

/// An array with one axis moved to the end, in C order.
struct Rows {
  Array x;
  int axis;
  Rows(const char* function, const Array& array, std::optional<int64_t> given) {
    const Array whole = given ? array : array.ravel();
    axis = normalize_axis(function, given.value_or(0), whole.ndim());
    x = whole.swapaxes(axis, whole.ndim() - 1).contiguous();
  }
  int64_t length() const { return x.shape(x.ndim() - 1); }
  bool is_sorted() const { return x.size() == 0 || length() < 2; }
  Array back(const Array& rows) const { return rows.swapaxes(axis, rows.ndim() - 1).contiguous(); }
};

/// The elements of each row at indices of that row.
Array take_along_rows(const Array& x, const Array& indices) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("raw const T x, int64 index, int64 n", "T y", "y = x[i / n * n + index];",
                             "take_along_rows");
  });
  return kernel(x, indices, Scalar(x.shape(x.ndim() - 1)).typed(Dtype::int64));
}

/// Indices in C order that sort rows stably; of rows in the order of `previous`, if there is one.
Array row_indices(const Array& x, const RowOrder& order, std::optional<Array> previous = {}) {
  const RowSorting& sorting = x.device().service<RowSorting>();
  const int words = ops::key_words(x.dtype());
  for (int word = 0; word < words; ++word) {
    Array indices = Array::empty(x.shape(), Dtype::int64, x.device());
    const RowOrder pass{order.descending, words > 1 ? std::span<const int64_t>() : order.wanted};
    sorting.argsort(x, word, previous ? &*previous : nullptr, indices, pass);
    previous = std::move(indices);
  }
  return *previous;
}

Array sorted_rows(const Array& x, const RowOrder& order, bool stable) {
  const bool has_equals_that_differ = kind(x.dtype()) == Kind::floating && stable;  // -0 and 0, NaN
  if (has_equals_that_differ || is_complex(x.dtype())) return take_along_rows(x, row_indices(x, order));
  const Array out = Array::empty(x.shape(), x.dtype(), x.device());
  x.device().service<RowSorting>().sort(x, out, order);
  return out;
}

Array zeros_like_rows(const Rows& rows) {
  Array indices = Array::empty(rows.x.shape(), Dtype::int64, rows.x.device());
  if (indices.size() > 0) indices.fill(0);
  return rows.back(indices);
}

/// An array without axes has one element to sort.
Array with_axis(const Array& x) { return x.ndim() == 0 ? x.reshape({1}) : x; }

std::vector<int64_t> positions(const char* function, std::span<const int64_t> kth, const Rows& rows) {
  if (rows.x.size() == 0) return {};
  const int64_t n = rows.length();
  std::vector<int64_t> wanted(kth.begin(), kth.end());
  for (int64_t& k : wanted) {
    if (k < -n || k >= n)
      throw ValueError(std::string(function) + ": kth(=" + std::to_string(k) + ") is out of bounds for an axis of " +
                       std::to_string(n) + " elements");
    if (k < 0) k += n;
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

}  // namespace

const Implementations<const RowSorting> RowSorting::implementations{"sorting", {&kCpu, &kCuda}};

Array sort(const Array& x, std::optional<int64_t> axis, const SortOptions& options) {
  const Rows rows("sort", x, axis);
  if (rows.is_sorted()) return rows.back(rows.x).copy();
  return rows.back(sorted_rows(rows.x, {options.descending}, options.stable));
}

Array argsort(const Array& x, std::optional<int64_t> axis, const SortOptions& options) {
  const Rows rows("argsort", with_axis(x), axis);
  if (rows.is_sorted()) return zeros_like_rows(rows).reshape(axis && x.ndim() ? x.shape() : Dims{-1});
  return rows.back(row_indices(rows.x, {options.descending}));
}

Array lexsort(std::span<const Array> keys, int64_t axis) {
  if (keys.empty()) throw TypeError("lexsort: need a sequence of keys with more than none");
  for (const Array& key : keys)
    if (!(key.shape() == keys[0].shape()))
      throw ShapeError("lexsort: all keys need to be of one shape, not " + to_string(keys[0].shape()) + " and " +
                       to_string(key.shape()));
  const Rows first("lexsort", with_axis(keys[0]), axis);
  if (first.is_sorted()) return zeros_like_rows(first).reshape(keys[0].shape());
  std::optional<Array> indices;
  for (const Array& key : keys) indices = row_indices(Rows("lexsort", key, axis).x, {}, indices);
  return first.back(*indices);
}

Array partition(const Array& x, std::span<const int64_t> kth, std::optional<int64_t> axis) {
  const Rows rows("partition", x, axis);
  const std::vector<int64_t> wanted = positions("partition", kth, rows);
  if (rows.is_sorted() || wanted.empty()) return rows.back(rows.x).copy();
  return rows.back(sorted_rows(rows.x, {false, wanted}, false));
}

Array argpartition(const Array& x, std::span<const int64_t> kth, std::optional<int64_t> axis) {
  const Rows rows("argpartition", with_axis(x), axis);
  const std::vector<int64_t> wanted = positions("argpartition", kth, rows);
  if (rows.is_sorted()) return zeros_like_rows(rows).reshape(axis && x.ndim() ? x.shape() : Dims{-1});
  return rows.back(row_indices(rows.x, {false, wanted}));
}

}  // namespace iruka
