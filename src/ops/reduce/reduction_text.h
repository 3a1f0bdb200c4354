// Pieces of a reduction's text that the CPU's and the GPU's have in common.
#pragma once

#include <string>

#include "ops/reduce/reduction_table.h"

namespace iruka::ops {

/// bool is computed in as a byte: vectors of bool are bit masks, and any byte but 0 is true.
std::string computing_type(Dtype dtype);

/// The start value as the accumulator's type, A.
std::string start_text(Start start, Dtype accumulator);

/// An accumulator's final value, `value`, as the output.
std::string output_text(Dtype accumulator, Dtype output);

/// What var carries, as R and A say: the squares' type and the mean's; and how two become one (Chan, Golub and LeVeque,
/// 1979).
std::string moments_text(Dtype accumulator);

/// Ordering for argmin and argmax: a value and where it stands, and which of two comes first. Of C and start().
std::string best_text(Start start);

}  // namespace iruka::ops
