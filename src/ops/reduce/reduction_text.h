// The generated part of a reduction's source, for CPU and GPU alike; the rest is in kernels/.
#pragma once

#include <string>

#include "ops/kernel_text.h"
#include "ops/reduce/reduction_table.h"

namespace iruka::ops {

/// The dtypes a reduction runs with.
struct ReductionTypes {
  Dtype input, accumulator, output;
};

/// The computing type of bool is a byte: vectors of bool are bit masks, and every byte but 0 is true.
std::string computing_type(Dtype dtype);

/// The start value as the accumulator's type, A.
std::string start_text(Start start, Dtype accumulator);

/// The types that kernels/scalars.h uses, except Narrow and A.
std::string types_text(const ReductionFunction::Row& row, const ReductionTypes& types);

/// combine() and finish(), and for argmin is_before(): the row's functions, which kernels/sums.h, bests.h and moments.h
/// call.
std::string combine_text(const ReductionFunction::Row& row, const ReductionTypes& types);

/// "Sums", "Bests" or "Moments": the template in kernels/ for a partial result.
const char* partials_of(const ReductionFunction::Row& row);
/// The line that includes it.
std::string include_partials(const ReductionFunction::Row& row);

}  // namespace iruka::ops
