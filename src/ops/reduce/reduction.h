// A row of the reduction table, called with options that the public functions do not have.
#pragma once

#include "ops/reduce/reduction_table.h"

namespace iruka::ops {

struct RowOptions {
  double correction = 0;      ///< var and std: subtracted from the number of elements
  bool may_be_empty = false;  ///< for an empty axis without an identity, the caller sets the result
};

/// Raises ValueError where there is none.
const ReductionFunction::Row& reduction_row(std::string_view name);

Array reduce_row(const ReductionFunction::Row& row, const Array& x, const std::optional<Dims>& axes, bool keepdims,
                 std::optional<Dtype> dtype, const RowOptions& options = {});

}  // namespace iruka::ops
