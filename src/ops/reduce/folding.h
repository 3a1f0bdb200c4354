// Which elementwise functions fold in any order, and the reductions that do the same.
#pragma once

#include <optional>
#include <string_view>

#include "iruka/ops.h"

namespace iruka::ops {

/// A commutative function. `reduction` is the row that folds by it, "" where there is none.
struct Folding {
  const char* function;
  std::optional<double> identity;
  const char* reduction;
};

/// nullptr for a function that folds in order only.
const Folding* find_folding(std::string_view function);
/// The function that combines two results of a reduction; nullptr if there is none.
const Folding* folding_of_reduction(std::string_view reduction);

/// The factors of a product that begins with `initial`: behind an infinite or NaN one their signs, for zeros and NaNs
/// count besides, and the product of the others may leave the range.
Array factors_after(const Array& x, const std::optional<Scalar>& initial);

/// Along one axis, which stays with extent 1, one element after the other, from `initial` where there is one.
Array fold_in_order(const ElementwiseFunction& function, const Array& x, int axis, Dtype loop,
                    const std::optional<Scalar>& initial = {}, const Array* where = nullptr);

}  // namespace iruka::ops
