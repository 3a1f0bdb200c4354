// How the work of a ReductionKernel is cut into units, stage by stage.
#pragma once

#include <cstdint>

namespace iruka::ops {

/// The numbers of one stage; reduction_kernel_text.h tells what they mean.
struct ReductionSizes {
  int lanes = 1;
  int64_t outputs = 1, inner = 1;
  int64_t n = 1, blocks = 1, length = 1;            ///< of the innermost reduced axis
  int64_t outer = 1, groups = 1, group_length = 1;  ///< of the other reduced axes

  int64_t parts() const { return blocks * groups; }
  /// Partial results of each output that the stage leaves.
  int64_t partials(bool is_gpu) const { return parts() * (is_gpu ? 1 : lanes); }
  /// Units in a launch. A GPU's lanes are whole warps.
  int64_t units(bool is_gpu) const {
    const int64_t all = outputs * parts() * lanes;
    return is_gpu && lanes > 1 ? (all + 31) / 32 * 32 : all;
  }
};

/// The stage that reads `outer` lines of `n` elements for each output.
ReductionSizes plan_mapping(int64_t outputs, int64_t inner, int64_t n, int64_t outer, bool by_columns, bool is_gpu);
/// A stage that reads `count` partial results for each output; it is the last where it leaves one.
ReductionSizes plan_joining(int64_t outputs, int64_t count, bool by_columns, bool is_gpu);

}  // namespace iruka::ops
