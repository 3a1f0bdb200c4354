// Which loop of a row runs for given arguments: NumPy 2's type resolution.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "ops/elementwise/elementwise_table.h"

namespace iruka::ops {

/// The dtypes of one call: what each argument is cast to before the body, and what each output is cast from.
struct LoopTypes {
  Dtype loop;                              ///< T
  std::array<Dtype, kMaxArguments> types;  ///< inputs, then outputs
};

/// Inputs and outputs of a signature: "TT->T" has 2 and 1.
int input_count(const ElementwiseFunction::Row& row);
int output_count(const ElementwiseFunction::Row& row);

/// The loop that `rules` force by dtype or signature; none if they force none. Raises TypeError if no loop matches.
std::optional<Dtype> forced_loop(const ElementwiseFunction::Row& row, std::span<const Argument> inputs,
                                 const CallRules& rules);

/// The loop's dtypes, `forced` or the first that holds the inputs. Raises TypeError where none does, or an input cannot
/// be cast.
LoopTypes loop_types(const ElementwiseFunction::Row& row, std::span<const Argument> inputs, std::optional<Dtype> forced,
                     Casting casting = Casting::same_kind);

/// T is `loop`, R is its real part, other characters are unchanged.
Dtype resolved_dtype(char character, Dtype loop);
Dtype dtype_of_character(char character);
char character_of_dtype(Dtype dtype);

/// Raises OverflowError where the literal `value` is an integer that `dtype` cannot hold.
void check_literal_fits(const Scalar& value, Dtype dtype);
/// Raises what NumPy raises when the number is assigned to an element: OverflowError for one out of an integer dtype's
/// bounds and for infinity, ValueError for NaN, TypeError for a complex literal and a real dtype. Typed scalars are
/// cast, except to signed integers.
void check_element(const Scalar& value, Dtype dtype);

}  // namespace iruka::ops
