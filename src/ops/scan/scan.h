// Scans of one axis into a given array.
#pragma once

#include <compare>
#include <string>

#include "core/layout.h"
#include "core/service.h"
#include "iruka/statistics.h"

namespace iruka::ops {

/// `x` and `result` have one shape and do not overlap; the dtypes are those of scan_output. Not empty.
struct ScanCall {
  const Array& x;
  const Array& result;
  ScanOperation operation;
  int axis;
  bool skips_nan;
};

/// What the kernel for tiles may assume: whether the input has gaps, whether input and output have aligned words of 16
/// bytes, whether a row has one tile or several.
struct ScanTiles {
  bool is_dense, input_is_aligned, output_is_aligned, looks_back;
  auto operator<=>(const ScanTiles&) const = default;
};

/// The texts of a GPU's kernels: tiles, with `threads` runs of elements, and a walk with a thread for each column of
/// `rank` axes.
std::string scan_tiles_text(const ScanCall& call, int64_t threads, const ScanTiles& tiles);
std::string scan_walk_text(const ScanCall& call, int rank);

/// The columns that are scanned: operands x and result without the axis.
LoopLayout columns_of(const ScanCall& call);

struct Scanning {
  static constinit const Implementations<const Scanning> implementations;
  void (*scan)(const ScanCall& call);
};

void scan_cpu(const ScanCall& call);   ///< threads
void scan_cuda(const ScanCall& call);  ///< blocks, in one pass

}  // namespace iruka::ops
