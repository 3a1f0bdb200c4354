// A row's computation as text of the kernel language: what a kernel of its own and a fused kernel share.
#pragma once

#include <string>
#include <vector>

#include "ops/elementwise/loop_types.h"

namespace iruka::ops {

/// Input k of a row's body: `argument`, of dtype `own`, cast to the loop's dtype, through float16 where that is one.
std::string input_text(const LoopTypes& types, size_t k, Dtype own, const std::string& argument);
/// Output k of the body, of dtype `from`, as an expression of dtype `to`.
std::string output_text(size_t k, Dtype from, Dtype to);
/// A statement that assigns a row's outputs to `results`, variables of the outputs' dtypes. The kernel's preamble must
/// have operation_preamble().
std::string operation_text(const ElementwiseFunction::Row& row, const LoopTypes& types, const std::vector<Dtype>& own,
                           const std::vector<std::string>& arguments, const std::vector<std::string>& results);
std::string operation_preamble(const ElementwiseFunction::Row& row);
/// The scalar, cast to `dtype` as a call casts it, as an expression. Raises OverflowError for a literal that does not
/// fit.
std::string number_text(const Scalar& scalar, Dtype dtype);

}  // namespace iruka::ops
