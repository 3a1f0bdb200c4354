// Sets by sorting: equal elements become neighbours, and the first of each run represents it.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/once.h"
#include "core/parallel.h"
#include "core/service.h"
#include "iruka/device.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/sorting.h"
#include "ops/index/compaction.h"
#include "ops/sort/order_text.h"

namespace iruka {
namespace {

Scalar whole(int64_t value) { return Scalar(value).typed(Dtype::int64); }
Scalar truth(bool value) { return Scalar(value).typed(Dtype::bool_); }

Array empty_like(const Array& x, int64_t n, Dtype dtype) { return Array::empty({n}, dtype, x.device()); }

/// x[indices] for rows of `width` elements.
Array take_rows(const Array& x, const Array& indices, int64_t width) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("raw const T x, raw const int64 index, int64 width", "T y",
                             "y = x[index[i / width] * width + i % width];", "take_rows");
  });
  Array rows = Array::empty({indices.size(), width}, x.dtype(), x.device());
  if (rows.size() > 0) kernel(x, indices, whole(width), rows);
  return rows;
}

/// Blocks of flags on the CPU, and how many flags are set before each.
class FlagBlocks {
 public:
  explicit FlagBlocks(const Array& flags)
      : flags_(static_cast<const uint8_t*>(flags.data())),
        n_(flags.size()),
        before_(static_cast<size_t>((n_ + kBlock - 1) / kBlock) + 1) {
    each([&](size_t block, int64_t begin, int64_t end) {
      int64_t count = 0;
      for (int64_t i = begin; i < end; ++i) count += flags_[i] != 0;
      before_[block + 1] = count;
    });
    std::partial_sum(before_.begin(), before_.end(), before_.begin());
  }
  int64_t count() const { return before_.back(); }

  /// Calls body(i, set flags before i) for all of them, by the CPU's threads.
  template <class Body>
  void for_flags(const Body& body) const {
    each([&](size_t block, int64_t begin, int64_t end) {
      int64_t before = before_[block];
      for (int64_t i = begin; i < end; ++i) {
        body(i, before);
        before += flags_[i] != 0;
      }
    });
  }
  bool operator[](int64_t i) const { return flags_[i] != 0; }

 private:
  static constexpr int64_t kBlock = 1 << 15;
  template <class Body>
  void each(const Body& body) const {
    parallel_for(static_cast<int64_t>(before_.size()) - 1, 4, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; ++k) body(static_cast<size_t>(k), k * kBlock, std::min(n_, (k + 1) * kBlock));
    });
  }

  const uint8_t* flags_;
  int64_t n_;
  std::vector<int64_t> before_;
};

/// Runs of equal elements by walking over all flags; a device without this service searches each element's run.
struct RunNumbering {
  static constinit const Implementations<const RunNumbering> implementations;
  /// inverse[order[i]]: the run of sorted element i.
  void (*number)(const Array& flags, const Array& order, const Array& inverse);
};

void number_runs_cpu(const Array& flags, const Array& order, const Array& inverse) {
  const FlagBlocks blocks(flags);
  const auto* place = static_cast<const int64_t*>(order.data());
  auto* to = static_cast<int64_t*>(inverse.data());
  blocks.for_flags([&](int64_t i, int64_t before) { to[place[i]] = before + blocks[i] - 1; });
}

constexpr RunNumbering kCpu{number_runs_cpu};
const Implementations<const RunNumbering> RunNumbering::implementations{"run numbering", {&kCpu}};

/// What follows from where runs of equal elements begin; `order` gives the sorted elements' places in the array.
UniqueResult describe_runs(const Array& flags, const Array& order, const UniqueParts& parts) {
  const ElementwiseKernel& count_kernel = made_once([&] {
    return ElementwiseKernel("raw const int64 starts, int64 runs, int64 n", "int64 count",
                             "count = (i + 1 < runs ? starts[i + 1] : n) - starts[i];", "count_runs");
  });
  // The run of a sorted element is the last one that begins at or before it.
  const ElementwiseKernel& inverse_kernel = made_once([&] {
    return ElementwiseKernel("raw const int64 starts, int64 place, int64 runs", "raw int64 inverse",
                             "inverse[place] = count_first(runs, [&](int64_t k) { return starts[k] <= i; }) - 1;",
                             "number_runs", {.preamble = ops::order_text("search")});
  });
  const int64_t n = flags.size();
  const Array starts = true_indices(flags);
  UniqueResult result;
  result.index = starts;  // in sorted order; the caller selects from it
  if (parts.counts) {
    result.counts = empty_like(flags, starts.size(), Dtype::int64);
    if (n > 0) count_kernel(starts, whole(starts.size()), whole(n), result.counts);
  }
  if (parts.inverse) {
    result.inverse = empty_like(flags, n, Dtype::int64);
    if (const auto* numbering = flags.device().find_service<RunNumbering>())
      numbering->number(flags, order, result.inverse);
    else if (n > 0)
      inverse_kernel(starts, order, whole(starts.size()), result.inverse);
  }
  return result;
}

}  // namespace

Array take_flat(const Array& x, const Array& indices) {
  return take_rows(x.contiguous(), indices, 1).reshape({indices.size()});
}

Array true_indices(const Array& flags) {
  if (flags.dtype() != Dtype::bool_ || flags.ndim() != 1)
    throw TypeError("true_indices: flags must be a bool array of one axis, not " + std::string(name(flags.dtype())) +
                    " of shape " + to_string(flags.shape()));
  return ops::true_positions(flags.contiguous());
}

UniqueResult unique(const Array& x, const UniqueParts& parts, bool equal_nan) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("raw const T x, bool equal_nan", "bool is_first",
                             "is_first = i == 0 || differ(x[i], x[i > 0 ? i - 1 : 0], equal_nan);", "mark_runs",
                             {.preamble = ops::order_text("differ")});
  });
  const Array flat = x.ravel().contiguous();
  Array order, sorted;
  if (parts.index || parts.inverse) {
    order = argsort(flat, 0);
    sorted = take_flat(flat, order);
  } else {
    sorted = sort(flat, 0);
  }
  const Array flags = empty_like(flat, flat.size(), Dtype::bool_);
  if (flat.size() > 0) kernel(sorted, truth(equal_nan), flags);
  UniqueResult result = describe_runs(flags, order, parts);
  result.values = take_flat(sorted, result.index);
  result.index = parts.index ? take_flat(order, result.index) : Array();
  return result;
}

UniqueResult unique_rows(const Array& x, const UniqueParts& parts, bool equal_nan) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("raw const T x, raw const int64 order, int64 width, bool equal_nan", "bool is_first",
                             "is_first = begins_run(x, order, i, width, equal_nan);", "mark_row_runs",
                             {.preamble = ops::order_text("differ")});
  });
  if (x.ndim() != 2) throw ShapeError("unique_rows: needs two axes, not shape " + to_string(x.shape()));
  const int64_t n = x.shape(0), width = x.shape(1);
  const Array dense = x.contiguous();
  std::vector<Array> columns;
  for (int64_t column = width; column-- > 0;) columns.push_back(dense.at(Slice{}, column));
  if (width == 0) {  // rows of no elements are equal
    columns.push_back(empty_like(x, n, Dtype::bool_));
    columns[0].fill(0);
  }
  const Array order = lexsort(columns);
  const Array flags = empty_like(x, n, Dtype::bool_);
  if (n > 0) kernel(dense, order, whole(width), truth(equal_nan), flags);
  UniqueResult result = describe_runs(flags, order, parts);
  const Array firsts = take_flat(order, result.index);
  result.values = take_rows(dense, firsts, width);
  result.index = parts.index ? firsts : Array();
  return result;
}

Array find_sorted(const Array& sorted, const Array& sought) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("T x, raw const T sorted, int64 n", "int64 place",
                             "const int64_t low = count_first(n, [&](int64_t k) { return before(sorted[k], x); });\n"
                             "place = low < n && sorted[low < n ? low : 0] == x ? low : -1;",
                             "find_sorted", {.preamble = ops::order_text("before") + ops::order_text("search")});
  });
  if (sorted.size() == 0) {
    Array places = Array::empty(sought.shape(), Dtype::int64, sought.device());
    places.fill(-1);
    return places;
  }
  return kernel(sought, sorted, whole(sorted.size()));
}

Array isin_sorted(const Array& sorted, const Array& sought, bool invert) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("T x, raw const T sorted, I n, bool invert", "bool found",
                             "const I low = count_first(n, [&](I k) { return before(sorted[k], x); });\n"
                             "found = (low < n && sorted[low < n ? low : (I)0] == x) != invert;",
                             "isin_sorted", {.preamble = ops::order_text("before") + ops::order_text("search")});
  });
  if (sorted.size() == 0) {
    Array found = Array::empty(sought.shape(), Dtype::bool_, sought.device());
    found.fill(invert);
    return found;
  }
  const int64_t n = sorted.size();
  return kernel(sought, sorted, Scalar(n).typed(n < INT32_MAX ? Dtype::int32 : Dtype::int64), truth(invert));
}

}  // namespace iruka
