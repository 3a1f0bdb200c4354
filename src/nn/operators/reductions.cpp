// Reductions, scans, and the largest elements along an axis.
#include <limits>

#include "iruka/indexing.h"
#include "iruka/ops.h"
#include "iruka/rearranging.h"
#include "iruka/sorting.h"
#include "iruka/statistics.h"
#include "nn/operators/operator.h"
#include "ops/functions.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

/// What a Reduce operator reduces over; nothing where it leaves its input as it is.
struct Axes {
  std::optional<Dims> axes;
  bool keeps, is_identity;
};
Axes axes_of(const Call& call) {
  const auto list = call.integers("axes", 1);
  const bool is_empty = !list || list->empty();
  return {is_empty ? std::nullopt : std::optional(dims_of(*list)), call.integer("keepdims", 1) != 0,
          is_empty && call.integer("noop_with_empty_axes", 0) != 0};
}

/// Sums have the input's dtype, and are computed in float32 where that is smaller.
template <class Before, class After>
Results reduced(const Call& call, const ReductionFunction& function, Before&& before, After&& after) {
  const auto [axes, keeps, is_identity] = axes_of(call);
  const Dtype dtype = compute_dtype(call[0].dtype());
  const Array x = before(call[0].astype(dtype, false));
  const Array total =
      is_identity ? x : function(x, axes, keeps, function.takes_dtype() ? std::optional(dtype) : std::nullopt);
  return {after(total).astype(call[0].dtype(), false)};
}
const auto kSame = [](const Array& x) { return x; };

Results reduce_sum(const Call& call) { return reduced(call, sum, kSame, kSame); }
Results reduce_prod(const Call& call) { return reduced(call, prod, kSame, kSame); }
Results reduce_l1(const Call& call) {
  return reduced(call, sum, [](const Array& x) { return absolute(x); }, kSame);
}
Results reduce_sum_square(const Call& call) {
  return reduced(call, sum, [](const Array& x) { return square(x); }, kSame);
}
Results reduce_l2(const Call& call) {
  return reduced(call, sum, [](const Array& x) { return square(x); }, [](const Array& x) { return sqrt(x); });
}
Results reduce_log_sum(const Call& call) {
  return reduced(call, sum, kSame, [](const Array& x) { return log(x); });
}
Results reduce_mean(const Call& call) {
  const auto [axes, keeps, is_identity] = axes_of(call);
  if (is_identity) return {call[0]};
  const Array& x = call[0];
  const Array mean_of = mean(is_inexact(x.dtype()) ? x.astype(compute_dtype(x.dtype()), false) : x, axes, keeps);
  return {mean_of.astype(x.dtype(), false)};
}

Results reduce_log_sum_exp(const Call& call) {
  const auto [axes, keeps, is_identity] = axes_of(call);
  if (is_identity) return {call[0]};
  const Array& given = call[0];
  const Array x = given.astype(is_inexact(given.dtype()) ? compute_dtype(given.dtype()) : Dtype::float64, false);
  const double least = -std::numeric_limits<double>::infinity();
  const Array largest = reduce(max, x, {.axes = axes, .keepdims = true, .initial = Scalar(least)});
  const Array shift = where(ops::isfinite(largest), largest, 0);
  const Array total = log(sum(exp(subtract(x, shift)), axes, true));
  Array result = add(total, shift);
  if (!keeps) result = sum(result, axes, false);  // of one element each
  return {result.astype(given.dtype(), false)};
}

template <bool kIsMax>
Results reduce_extreme(const Call& call) {
  const auto [axes, keeps, is_identity] = axes_of(call);
  if (is_identity) return {call[0]};
  const Array& x = call[0];
  if (x.dtype() == Dtype::bool_) return {(kIsMax ? any : all)(x, axes, keeps)};
  if (x.size() != 0) return {(kIsMax ? max : min)(x, axes, keeps)};
  ReductionOptions options{.axes = axes, .keepdims = keeps};
  if (is_inexact(x.dtype())) {
    options.initial =
        Scalar(kIsMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  } else {
    const int bits = static_cast<int>(8 * x.itemsize());
    const bool is_signed = kind(x.dtype()) == Kind::signed_integer;
    const uint64_t most = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
    options.initial = kIsMax ? (is_signed ? Scalar(-static_cast<int64_t>(most) - 1) : Scalar(0)) : Scalar(most);
  }
  return {reduce(kIsMax ? max : min, x, options)};
}

template <bool kIsMax>
Results place_of_extreme(const Call& call) {
  const Array& x = call[0];
  const int axis = call.axis(call.integer("axis", 0), x.ndim());
  const bool keeps = call.integer("keepdims", 1) != 0, is_last = call.integer("select_last_index", 0) != 0;
  const Array places = (kIsMax ? argmax : argmin)(is_last ? ops::reversed(x, axis) : x, Dims{axis}, keeps);
  return {is_last ? subtract(x.shape(axis) - 1, places) : places};
}

template <ScanOperation kOperation>
Results cumulated(const Call& call) {
  const Array& x = call[0];
  const int axis = call.axis(call.number_of(1).as_int64(), x.ndim());
  const bool is_reversed = call.integer("reverse", 0) != 0, is_exclusive = call.integer("exclusive", 0) != 0;
  const Array from = is_reversed ? ops::reversed(x, axis) : x;
  Array sums = scan(from, kOperation, axis, {.dtype = x.dtype(), .includes_initial = is_exclusive});
  if (is_exclusive) sums = ops::cut(sums, axis, 0, x.shape(axis));
  return {is_reversed ? ops::reversed(sums, axis) : sums};
}

Results top_k(const Call& call) {
  const Array& x = call[0];
  const int axis = call.axis(call.integer("axis", -1), x.ndim());
  const int64_t count = call.number_of(1).as_int64();
  if (count < 0 || count > x.shape(axis)) {
    call.fail("K is " + std::to_string(count) + ", but the axis has " + std::to_string(x.shape(axis)) + " elements");
  }
  const bool is_largest = call.integer("largest", 1) != 0;
  const Array order = argsort(x, axis, {.stable = true, .descending = is_largest});
  const Array places = ops::cut(order, axis, 0, count).copy();
  return {take_along_axis(x, places, axis), places};
}

constexpr Operator kRows[] = {
    {"ArgMax", place_of_extreme<true>},
    {"ArgMin", place_of_extreme<false>},
    {"CumProd", cumulated<ScanOperation::multiply>, 0b10},
    {"CumSum", cumulated<ScanOperation::add>, 0b10},
    {"ReduceL1", reduce_l1, 0b10},
    {"ReduceL2", reduce_l2, 0b10},
    {"ReduceLogSum", reduce_log_sum, 0b10},
    {"ReduceLogSumExp", reduce_log_sum_exp, 0b10},
    {"ReduceMax", reduce_extreme<true>, 0b10},
    {"ReduceMean", reduce_mean, 0b10},
    {"ReduceMin", reduce_extreme<false>, 0b10},
    {"ReduceProd", reduce_prod, 0b10},
    {"ReduceSum", reduce_sum, 0b10},
    {"ReduceSumSquare", reduce_sum_square, 0b10},
    {"TopK", top_k, 0b10},
};

}  // namespace

std::span<const Operator> reduction_operators() { return kRows; }

}  // namespace iruka::nn
