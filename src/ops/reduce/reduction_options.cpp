// Reductions with `initial` and `where`.
#include "core/device.h"
#include "iruka/statistics.h"
#include "ops/checks.h"
#include "ops/elementwise/cast_text.h"
#include "ops/elementwise/loop_types.h"
#include "ops/listener.h"
#include "ops/reduce/folding.h"
#include "ops/reduce/reduction.h"

namespace iruka {
namespace ops {
namespace {

using Row = ReductionFunction::Row;

/// Replaces masked elements by a value that does not change the result.
Array masked(const Row& row, const Array& x, const Array& where, const std::optional<Scalar>& initial) {
  check_cast(where.dtype(), Dtype::bool_);
  Scalar neutral(row.start == Start::one);
  if (row.start == Start::ones) neutral = x.dtype() == Dtype::bool_ ? Scalar(true) : Scalar(-1);
  if (!row.has_identity) {
    if (!initial)
      throw ValueError(std::string("reduction operation '") + std::string(folding_of_reduction(row.name)->function) +
                       "' does not have an identity, so to use a where mask one has to specify 'initial'");
    check_element(*initial, x.dtype());
    neutral = *initial;
  }
  return iruka::where(where.broadcast_to(x.shape()), x, neutral.as_element(x.dtype()));
}

/// The sum in `dtype`, divided by the number of elements that are not masked: NumPy's rule for masks and integer
/// dtypes. Neither the sum nor the number passes through a 16-bit float.
Array mean_of_sum(const Array& x, const ReductionOptions& options) {
  const Dtype inexact = is_inexact(x.dtype()) ? x.dtype() : Dtype::float64;
  const Dtype dtype = options.dtype.value_or(inexact);
  ReductionOptions sums = options;
  sums.dtype = is_half(dtype) ? Dtype::float32 : dtype;
  const Array total = reduce(ReductionFunction("sum"), x, sums);
  if (!options.where) return divide(total, double(x.size()) / double(total.size())).astype(dtype, false);
  const Array count = ReductionFunction("sum")(options.where->broadcast_to(x.shape()), options.axes, options.keepdims);
  return divide(total, count).astype(dtype, false);
}

Array reduce_with(const ReductionFunction& function, const Array& x, const ReductionOptions& options) {
  const Row& row = function.row();
  if (row.rule == ResultRule::mean && (options.where || (options.dtype && !is_inexact(*options.dtype))))
    return mean_of_sum(x, options);
  if (!options.initial && !options.where) return reduce_row(row, x, options.axes, options.keepdims, options.dtype);
  const Folding* combine = folding_of_reduction(row.name);
  if (!combine) throw TypeError(std::string(row.name) + "() takes neither 'initial' nor 'where'");
  Array wide = row.has_identity ? x : x.astype(options.dtype.value_or(x.dtype()), false);  // holds `initial`
  if (row.start == Start::one && row.rule == ResultRule::sum) wide = factors_after(wide, options.initial);
  const Array counted = options.where ? masked(row, wide, *options.where, options.initial) : wide;
  const Array result = reduce_row(row, counted, options.axes, options.keepdims, options.dtype,
                                  {.may_be_empty = options.initial.has_value()});
  if (!options.initial) return result;
  check_element(*options.initial, result.dtype());
  const Scalar initial = options.initial->as_element(result.dtype());
  if (counted.size() == 0 && !row.has_identity) {
    Array filled = result;
    filled.fill(initial);
    return filled;
  }
  return ElementwiseFunction(combine->function)(result, initial);
}

}  // namespace
}  // namespace ops

Array reduce(const ReductionFunction& function, const Array& x, const ReductionOptions& options) {
  Array result = ops::reduce_with(function, x, options);
  if (ops::current_listener) ops::current_listener->reduced(function, x, options, result);
  return result;
}

}  // namespace iruka
