// Which elementwise functions fold in any order, and the reductions that do the same.
#pragma once

#include <optional>
#include <string_view>

#include "iruka/ops.h"

namespace iruka::ops {

/// A commutative function. `reduction` is the row that computes its fold, "" if there is none.
struct Folding {
  const char* function;
  std::optional<double> identity;
  const char* reduction;
};

/// Null for a function that must fold in order.
const Folding* find_folding(std::string_view function);
/// The function that combines two results of a reduction; nullptr if there is none.
const Folding* folding_of_reduction(std::string_view reduction);

/// The factors of a product that begins with `initial`. If that is infinite or NaN, only the signs, zeros and NaNs of
/// the others matter, and they are used alone, because their product may overflow or underflow.
Array factors_after(const Array& x, const std::optional<Scalar>& initial);

/// Folds one element after the other along one axis, which stays with extent 1, beginning with `initial` if there is
/// one.
Array fold_in_order(const ElementwiseFunction& function, const Array& x, int axis, Dtype loop,
                    const std::optional<Scalar>& initial = {}, const Array* where = nullptr);

}  // namespace iruka::ops
