// How the work of a ReductionKernel is cut into units, stage by stage.
#pragma once

#include <cstdint>

#include "core/service.h"

namespace iruka::ops {

/// The numbers of one stage; reduction_kernel_text.h explains them.
struct ReductionSizes {
  int lanes = 1;
  bool in_warps = false;  ///< lanes are threads of a warp, which combine their values; whole warps run
  int64_t outputs = 1, inner = 1;
  int64_t n = 1, blocks = 1, length = 1;            ///< of the innermost reduced axis
  int64_t outer = 1, groups = 1, group_length = 1;  ///< of the other reduced axes
  int64_t elements = 1;                             ///< of an output, in all stages

  int64_t parts() const { return blocks * groups; }
  /// Partial results of each output that the stage leaves.
  int64_t partials() const { return parts() * (in_warps ? 1 : lanes); }
  /// Units in a launch.
  int64_t units() const {
    const int64_t all = outputs * parts() * lanes;
    return in_warps && lanes > 1 ? (all + 31) / 32 * 32 : all;
  }
};

struct ReductionPlanning {
  static constinit const Implementations<const ReductionPlanning> implementations;

  /// The stage that reads `outer` lines of `n` elements for each output.
  ReductionSizes (*map)(int64_t outputs, int64_t inner, int64_t n, int64_t outer, bool by_columns);
  /// A stage that reads `count` partial results for each output; it is the last where it leaves one.
  ReductionSizes (*join)(int64_t outputs, int64_t count, bool by_columns);
  int64_t fewest_columns;  ///< the fewest neighbouring outputs for a walk by columns
  /// The fewest lines for a walk by fewer columns. map() gives them lanes, so that vectors read contiguous lines.
  int64_t fewest_lines;
};

}  // namespace iruka::ops
