// Sorting of rows: the last axis of C-ordered arrays.
#pragma once

#include <span>

#include "core/service.h"
#include "iruka/array.h"

namespace iruka::ops {

/// How many words make a key: complex128 is sorted by the low word, then by the high one.
inline int key_words(Dtype dtype) { return dtype == Dtype::complex128 ? 2 : 1; }

struct RowOrder {
  bool descending = false;
  /// Positions that must have their sorted elements, ascending; empty for all.
  std::span<const int64_t> wanted{};
};

struct RowSorting {
  static constinit const Implementations<const RowSorting> implementations;

  /// Writes the rows of x, a real dtype, sorted to `out`: same shape and dtype, C order, other memory.
  /// -0 comes before 0, so this is no stable sort of floats.
  void (*sort)(const Array& x, const Array& out, const RowOrder& order);
  /// Writes to `out` (int64, shape of x, C order) the indices of the stable sort of x's rows by one word of their keys:
  /// of the elements in the order that `previous` (an array like `out`, other memory) gives, if there is one.
  void (*argsort)(const Array& x, int word, const Array* previous, const Array& out, const RowOrder& order);
};

void sort_rows_cpu(const Array& x, const Array& out, const RowOrder& order);
void argsort_rows_cpu(const Array& x, int word, const Array* previous, const Array& out, const RowOrder& order);
void sort_rows_cuda(const Array& x, const Array& out, const RowOrder& order);
void argsort_rows_cuda(const Array& x, int word, const Array* previous, const Array& out, const RowOrder& order);

}  // namespace iruka::ops
