// How a reduction walks memory: axes sorted and merged, one of four loop forms chosen, long work cut into chunks.
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

/// Outputs that one unit of `columns` accumulates side by side; accumulators of `periodic`.
inline constexpr int64_t kStripWidth = 1024;
/// Longest row of short_rows and of periodic.
inline constexpr int64_t kShortRow = 16, kLongestPeriod = 128;

struct ReductionAxis {
  int64_t extent;
  int64_t stride;  ///< bytes in the input
  int64_t step;    ///< kept: elements in the output; reduced: how far the index of argmin moves
  bool reduced;
};

/// Chunks depend on the shape alone, never on the number of threads, so that results do not either.
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
};

/// `reduced` tells for each axis of x whether it goes. x and its reduced extents are not empty. With `keeps_index`,
/// elements of a row are met in the order of their index.
ReductionPlan plan_reduction(const Array& x, std::span<const bool> reduced, bool keeps_index);

}  // namespace iruka::ops
