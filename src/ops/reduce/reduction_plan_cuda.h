// How a reduction is distributed over thread blocks: the traversal of reduction_plan.h, split for a GPU.
#pragma once

#include "ops/reduce/reduction_plan.h"

namespace iruka::ops {

/// Threads of a block, in every form.
inline constexpr int kBlockThreads = 256;
/// Bytes of shared memory that hold a block's part of short rows.
inline constexpr int64_t kTileBytes = 16384;

/// As plan_reduction. Nothing depends on how many multiprocessors there are, so that results do not either.
ReductionPlan plan_reduction_cuda(const Array& x, std::span<const bool> reduced, bool keeps_index,
                                  int64_t partial_bytes);

}  // namespace iruka::ops
