// Reductions with `initial` and `where`.
#include "core/device.h"
#include "iruka/statistics.h"
#include "ops/folding.h"
#include "ops/reduction.h"

namespace iruka {
namespace ops {
namespace {

using Row = ReductionFunction::Row;

/// Elements that do not count replaced by one that changes nothing.
Array masked(const Row& row, const Array& x, const Array& where, const std::optional<Scalar>& initial) {
  if (where.dtype() != Dtype::bool_)
    throw TypeError("Cannot cast array data from dtype('" + std::string(name(where.dtype())) +
                    "') to dtype('bool') according to the rule 'safe'");
  Scalar neutral(row.start == Start::one);
  if (row.start == Start::ones) neutral = x.dtype() == Dtype::bool_ ? Scalar(true) : Scalar(-1);
  if (!row.has_identity) {
    if (!initial)
      throw ValueError(std::string("reduction operation '") + std::string(folding_of_reduction(row.name)->function) +
                       "' does not have an identity, so to use a where mask one has to specify 'initial'");
    neutral = *initial;
  }
  return iruka::where(where.broadcast_to(x.shape()), x, neutral.as_element(x.dtype()));
}

Array masked_mean(const Array& x, const ReductionOptions& options) {
  ReductionOptions sums = options;
  const Dtype inexact = kind(x.dtype()) >= Kind::floating ? x.dtype() : Dtype::float64;
  sums.dtype = options.dtype.value_or(inexact);
  const Array total = reduce(ReductionFunction("sum"), x, sums);
  const Array count = ReductionFunction("sum")(options.where->broadcast_to(x.shape()), options.axes, options.keepdims);
  return divide(total, count.astype(real_dtype(total.dtype())));
}

}  // namespace
}  // namespace ops

Array reduce(const ReductionFunction& function, const Array& x, const ReductionOptions& options) {
  using namespace ops;
  if (!options.initial && !options.where) return function(x, options.axes, options.keepdims, options.dtype);
  const Row& row = reduction_row(function.name());
  if (row.rule == ResultRule::mean && options.where) return masked_mean(x, options);
  const Folding* combine = folding_of_reduction(row.name);
  if (!combine) throw TypeError(std::string(row.name) + "() takes neither 'initial' nor 'where'");
  const Array counted = options.where ? masked(row, x, *options.where, options.initial) : x;
  const Array result = reduce_row(row, counted, options.axes, options.keepdims, options.dtype,
                                  {.may_be_empty = options.initial.has_value()});
  if (!options.initial) return result;
  const Scalar initial = options.initial->as_element(result.dtype());
  if (counted.size() == 0 && !row.has_identity) {
    Array filled = result;
    filled.fill(initial);
    return filled;
  }
  return ElementwiseFunction(combine->function)(result, initial);
}

}  // namespace iruka
