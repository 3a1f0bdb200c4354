// The text of a reduction's kernel for CUDA.
#pragma once

#include <string>

#include "ops/reduce/reduction_emit.h"

namespace iruka::ops {

/// Entry: iruka_entry(Arguments, begin, end) over units (stage 0), or over outputs whose chunks are to be joined (stage
/// 1). A block takes `units` of the first and `join_outputs` of the second. The argument block is the CPU's (see
/// emit_reduction), followed by int32 fields of BlockShape: units, lane_bits, slot_bits, lanes,
/// row_lanes, strip_width, rest; in stage 1, units is join_outputs and slot_bits its logarithm.
std::string emit_reduction_cuda(const ReductionFunction::Row& row, const ReductionVariant& variant);

}  // namespace iruka::ops
