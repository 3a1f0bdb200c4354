// How a reduction traverses memory: sorts and merges axes, chooses a loop form, splits long work into chunks.
#pragma once

#include <cstdint>
#include <span>

#include "iruka/array.h"

namespace iruka::ops {

/// 1. rows: the fastest axis is reduced; one output is one unit (or several chunks of one).
/// 2. short_rows: the same with rows of a few elements, one after another: the extent is a constant of the text and
///    outputs are what is vectorised.
/// 3. columns: the fastest axis is kept; a strip of outputs is accumulated row by row.
/// 4. periodic: the same with dense rows of a few elements: accumulators repeat with the row's period.
enum class ReductionForm : uint8_t { rows, short_rows, columns, periodic };

/// Outputs that one unit of `columns` accumulates side by side: long pieces of rows keep the memory busy.
inline constexpr int64_t kStripWidth = 4096;
/// Accumulators of `periodic`, all of which are folded at the end.
inline constexpr int64_t kPeriodicWidth = 1024;
/// Longest row of short_rows and of periodic.
inline constexpr int64_t kShortRow = 16, kLongestPeriod = 128;

struct ReductionAxis {
  int64_t extent;
  int64_t stride;  ///< bytes in the input
  int64_t step;    ///< kept: elements in the output; reduced: how far the index of argmin moves
  bool reduced;
};

/// The properties of a device's loops.
struct WalkRules {
  int64_t short_row = kShortRow, longest_period = kLongestPeriod;
  bool swaps_inner = true;  ///< whether a short innermost axis is exchanged with a long one of the other kind
};

/// CUDA: how the threads of a block share its units (reduction_plan_cuda.cpp says why).
struct BlockShape {
  int vector_bytes = 0;              ///< bytes that a thread loads at once; 0: one element
  bool is_wide = false;              ///< whether counts of units and rows need 64 bits
  int units = 1;                     ///< that a block takes
  int join_outputs = 1;              ///< outputs whose chunks a block combines
  int lane_bits = 0, slot_bits = 0;  ///< rows: log2 of the threads side by side on a row, and of a block's units
  int lanes = 1, row_lanes = 1;      ///< columns, periodic: threads side by side, and rows at a time
  int strip_width = 1;               ///< columns, periodic: elements side by side
  int rest = 0;                      ///< periodic: elements after the last full row of strip_width
};

/// Chunks depend only on the shape, so that results do not depend on the number of threads.
struct ReductionPlan {
  ReductionForm form;
  int spacing;             ///< elements from one of the inner axis to the next, if 1 or 2; else 0
  int64_t offset = 0;      ///< bytes from the input's first element to where the walk starts
  int64_t out_offset = 0;  ///< elements from the output's first to where the walk starts
  int kept_rank = 0;       ///< outer kept axes
  int reduced_rank = 0;    ///< outer reduced axes
  ReductionAxis kept[kMaxRank], reduced[kMaxRank];
  ReductionAxis inner;
  int64_t outputs = 1;  ///< all of them
  int64_t length = 1;   ///< elements that make one output
  int64_t rows = 1;     ///< product of outer reduced extents
  int64_t rows_per_chunk = 1;
  int64_t parts = 1;  ///< pieces an inner reduced axis is cut into
  int64_t part_length = 1;
  int64_t strips = 1;  ///< pieces an inner kept axis is cut into
  int64_t chunks = 1;  ///< partial results that make one output
  int64_t units = 1;   ///< independent pieces of work
  int64_t elements_per_unit = 1;
  int64_t row_length = 0;  ///< of short_rows whose text is for rows of this length, else 0
  BlockShape block;
};

/// How lines of columns are reduced: what the built-in reductions and ReductionKernel have in common.
struct ColumnCut {
  int64_t strips = 1;  ///< pieces of a line; each goes through the rows of its chunk
  int64_t rows_per_chunk = 1;
  int64_t chunks = 1;  ///< pieces of the rows, the last of which may be shorter
};
/// `lines` of outputs, each of `columns`, which come from `rows` each.
ColumnCut cut_columns(int64_t rows, int64_t columns, int64_t lines);

/// `reduced` says for each axis of x whether it is reduced. Neither x nor its reduced extents are empty. With
/// `keeps_index`, the elements of a row are met in the order of their index.
/// Nothing is cut into chunks yet.
ReductionPlan plan_walk(const Array& x, std::span<const bool> reduced, bool keeps_index, const WalkRules& rules);
/// For the CPU.
ReductionPlan plan_reduction(const Array& x, std::span<const bool> reduced, bool keeps_index, int64_t partial_bytes);

}  // namespace iruka::ops
