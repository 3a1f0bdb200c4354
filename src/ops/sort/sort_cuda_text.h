// Texts of the kernels that sort rows on a GPU.
#pragma once

#include <string>

#include "iruka/dtype.h"

namespace iruka::ops {

/// Everything that a text depends on.
struct SortVariant {
  Dtype dtype;
  int word = 0;            ///< of the key
  bool has_index = false;  ///< sorts indices; else the elements themselves, whose keys convert back to them
  bool descending = false;
  bool is_wide = false;  ///< rows of 2^30 elements or more: counts and indices need 64 bits

  int key_bytes() const;
  int index_bytes() const { return !has_index ? 0 : is_wide ? 8 : 4; }
  /// Passes of a radix sort, 8 bits each.
  int passes() const { return dtype == Dtype::bool_ ? 1 : key_bytes(); }
  /// Elements that a thread holds in one pass of a radix sort.
  int items() const;
};

/// Threads of a block, of radix sorts and of short rows.
inline constexpr int kRadixThreads = 384, kShortThreads = 256;
/// Elements of a block that sorts short rows, each padded to a power of two; elements that one block counts.
inline constexpr int kShortSlots = 2048, kCountedElements = 1 << 15;

std::string sort_short_rows_text(const SortVariant& variant);
std::string sort_histogram_text(const SortVariant& variant);
std::string sort_pass_text(const SortVariant& variant);

}  // namespace iruka::ops
