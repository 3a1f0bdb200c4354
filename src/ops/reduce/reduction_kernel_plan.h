// How the work of a ReductionKernel is cut into units, stage by stage.
#pragma once

#include <cstdint>

#include "core/service.h"

namespace iruka::ops {

/// Rows that a pass over a strip of columns combines before it loads and stores the columns' values.
inline constexpr int kReductionPass = 8;

/// What a stage reduces: for each output, `outer` times `n` rows. Of the outputs, `inner` neighbours are one line.
struct ReductionWork {
  int64_t outputs = 1, inner = 1, n = 1, outer = 1;
  bool by_columns = false;  ///< whether neighbouring units are neighbouring outputs
  bool is_flat = false;     ///< by columns: whether lines follow each other in memory, without gaps
  int64_t bytes = 8;        ///< that a value takes at most
};

/// The numbers of one stage; reduction_kernel_text.h explains them.
struct ReductionSizes {
  int64_t lanes = 1;
  bool in_warps = false;  ///< lanes are threads of a warp, which combine their values; whole warps run
  int64_t outputs = 1, inner = 1;
  int64_t n = 1, blocks = 1, length = 1;            ///< of the innermost reduced axis
  int64_t outer = 1, groups = 1, group_length = 1;  ///< of the other reduced axes
  int64_t elements = 1;                             ///< of an output, in all stages
  int64_t passes = 0;                               ///< over strips of columns; 0: a unit reads its rows one by one
  int64_t strips = 1, width = 1;                    ///< of each line, and units of a strip

  int64_t parts() const { return blocks * groups; }
  /// Partial results of each output that the stage leaves.
  int64_t partials() const { return parts() * (in_warps ? 1 : lanes); }
  /// Units in a launch. Strips have the same width, so that the last one of a line may have units without a column.
  int64_t units() const {
    if (passes > 0) return outputs / inner * parts() * strips * width;
    const int64_t all = outputs * parts() * lanes;
    return in_warps && lanes > 1 ? (all + 31) / 32 * 32 : all;
  }
};

struct ReductionPlanning {
  static constinit const Implementations<const ReductionPlanning> implementations;

  /// The stage that reads the inputs.
  ReductionSizes (*map)(const ReductionWork& work);
  /// A stage that reads `n` partial results for each output; it is the last where it leaves one.
  ReductionSizes (*join)(const ReductionWork& work);
  int64_t fewest_columns;  ///< the fewest neighbouring outputs for a walk by columns
  /// The fewest lines for a walk by fewer columns. map() gives them lanes, so that vectors read contiguous lines.
  int64_t fewest_lines;
  bool sorts_columns;  ///< whether a walk by columns may visit outputs in the order in which inputs lie in memory
};

}  // namespace iruka::ops
