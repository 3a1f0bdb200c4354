// Which loop of a row runs for given arguments: NumPy 2's type resolution.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "ops/elementwise_table.h"

namespace iruka::ops {

/// The dtypes one call settles: what each argument is cast to before the body, and what each output is cast from.
struct LoopTypes {
  Dtype loop;                              ///< T
  std::array<Dtype, kMaxArguments> types;  ///< inputs, then outputs
};

/// Inputs and outputs of a signature: "TT->T" has 2 and 1.
int input_count(const ElementwiseFunction::Row& row);
int output_count(const ElementwiseFunction::Row& row);

/// Raises TypeError where no loop holds the inputs, or an input or given output cannot be cast by 'same_kind'.
LoopTypes loop_types(const ElementwiseFunction::Row& row, std::span<const Argument> inputs, std::optional<Dtype> dtype);

/// Raises OverflowError where the literal `value` is an integer that `dtype` cannot hold.
void check_literal_fits(const Scalar& value, Dtype dtype);

}  // namespace iruka::ops
