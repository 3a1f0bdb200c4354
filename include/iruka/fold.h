// Folding along an axis with an elementwise function of two inputs: the methods of NumPy's ufuncs.
#pragma once

#include <optional>
#include <string_view>

#include "iruka/ops.h"

namespace iruka {

/// A function's result for no operands, and whether its operands may change places.
struct FoldTraits {
  std::optional<Scalar> identity;
  bool is_reorderable;
};
IRUKA_API FoldTraits fold_traits(std::string_view function);

/// The options of a fold.
struct FoldRules {
  std::optional<Dtype> dtype{};  ///< of the loop; by default NumPy's: small integers add and multiply in 64 bits
  bool keepdims = false;
  std::optional<Scalar> initial{};
  bool has_identity = true;      ///< whether an empty axis may give the function's identity
  const Array* where = nullptr;  ///< bools; elements where it is false are left out
};

/// f(...f(f(x0, x1), x2)..., xn) along `axes`; along all axes if there are none. Functions whose operands may change
/// places are folded in parallel. Raises ValueError for a function without exactly two inputs and one output, for
/// several axes of a function that is not reorderable, and for an empty axis without identity; TypeError if no loop
/// accepts the dtypes.
IRUKA_API Array fold(const ElementwiseFunction& function, const Array& x, std::optional<Dims> axes,
                     const FoldRules& rules = {});

/// Every step of the fold along one axis: element k is the fold of elements 0 to k.
IRUKA_API Array accumulate(const ElementwiseFunction& function, const Array& x, int64_t axis,
                           std::optional<Dtype> dtype = {});

/// The folds of x[starts[k]:starts[k + 1]] along one axis, the last to the end; x[starts[k]] where that is empty.
/// `starts` is a vector of int64. Raises IndexError for a start outside the axis.
IRUKA_API Array fold_segments(const ElementwiseFunction& function, const Array& x, const Array& starts, int64_t axis,
                              std::optional<Dtype> dtype = {});

}  // namespace iruka
