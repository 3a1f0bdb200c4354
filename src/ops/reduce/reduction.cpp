// Calls of reductions: axes and dtypes resolved, a plan, its kernel, chunks joined.
#include "ops/reduce/reduction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "core/once.h"
#include "core/service.h"
#include "iruka/statistics.h"
#include "jit/program.h"
#include "ops/elementwise/cast_text.h"
#include "ops/listener.h"
#include "ops/program_cache.h"
#include "ops/reduce/folding.h"
#include "ops/reduce/reduction_emit.h"
#include "ops/reduce/reduction_emit_cuda.h"
#include "ops/reduce/reduction_plan_cuda.h"
#include "ops/views.h"

namespace iruka {
namespace ops {
namespace {

using Row = ReductionFunction::Row;

/// The fewest elements of a thread.
constexpr int64_t kGrain = 32768;

/// Units of one launch, the elements of each, and the units that a block takes.
struct ReductionUnits {
  int64_t count, elements, per_block;
};

/// How a device reduces along axes.
struct ReductionLoops {
  static constinit const Implementations<const ReductionLoops> implementations;

  ReductionPlan (*plan)(const Array& x, std::span<const bool> reduced, bool keeps_index, int64_t partial_bytes);
  std::string (*text)(const Row& row, const ReductionVariant& variant);
  std::vector<std::string> (*options)(const ReductionVariant& variant);
  void (*launch)(const jit::Program& program, const jit::ArgumentBlock& block, const ReductionUnits& units);
};

void launch_ranges(const jit::Program& program, const jit::ArgumentBlock& block, const ReductionUnits& units) {
  program.launch(block.bytes(),
                 LaunchRange{units.count, 1, std::max<int64_t>(1, kGrain / std::max<int64_t>(units.elements, 1))});
}

void launch_blocks(const jit::Program& program, const jit::ArgumentBlock& block, const ReductionUnits& units) {
  program.launch(block.bytes(), jit::GridRange{units.count, units.per_block, kBlockThreads});
}

constexpr ReductionLoops kCpu{plan_reduction, emit_reduction, reduction_options, launch_ranges};
constexpr ReductionLoops kCuda{plan_reduction_cuda, emit_reduction_cuda,
                               [](const ReductionVariant&) { return std::vector<std::string>(); }, launch_blocks};
const Implementations<const ReductionLoops> ReductionLoops::implementations{"reductions", {&kCpu, &kCuda}};

/// A row's programs by variant and device.
using Programs = ProgramCache<std::pair<uint64_t, Device*>>;

Programs& programs_of(const Row& row) {
  const auto& programs = made_once([] { return std::make_unique<Programs[]>(reduction_table().size()); });
  return programs[static_cast<size_t>(&row - reduction_table().data())];
}

const jit::Program& program_for(const Row& row, const ReductionVariant& variant, Device& device) {
  return programs_of(row).get({variant.key(), &device}, [&] {
    const auto& loops = device.service<ReductionLoops>();
    const ProgramSource source{loops.text(row, variant), "iruka_entry", loops.options(variant),
                               std::string("<") + row.name + ">"};
    return jit::build(device, source, {row.name, name(variant.types.input), "", {}});
  });
}

ReductionTypes reduction_types(const Row& row, Dtype input) {
  const Dtype sum = summing_dtype(input);
  switch (row.rule) {
    case ResultRule::sum: return {input, sum, is_inexact(input) ? input : sum};
    case ResultRule::mean:
    case ResultRule::numbers:
      if (!is_inexact(input)) return {input, Dtype::float64, Dtype::float64};
      return {input, sum, input};
    case ResultRule::same:
    case ResultRule::extremes: return {input, computing_dtype(input), input};
    case ResultRule::boolean: return {input, Dtype::bool_, Dtype::bool_};
    case ResultRule::count: return {input, Dtype::int64, Dtype::int64};
    case ResultRule::length:
      if (!is_inexact(input)) return {input, Dtype::float64, Dtype::float64};
      return {input, real_dtype(sum), real_dtype(input)};
    case ResultRule::moments:
      if (!is_inexact(input)) return {input, Dtype::float64, Dtype::float64};
      return {input, sum, real_dtype(input)};
    case ResultRule::index: break;
  }
  return {input, computing_dtype(input), Dtype::int64};
}

/// Whether the accumulator for the input's own dtype is as good as the one for `dtype`, so that the input need not be
/// cast.
bool accumulates_as(const ReductionTypes& types, Dtype dtype) {
  const bool integers = is_integer(dtype) && !is_inexact(types.input);
  return integers || (types.accumulator == Dtype::float64 && kind(dtype) == Kind::floating && is_inexact(types.input) &&
                      itemsize(dtype) >= itemsize(types.input));
}

/// The axes that are reduced; all axes if none are given.
struct AxisSet {
  bool reduced[kMaxRank] = {};
  int64_t length = 1;  ///< product of the reduced extents
  Dims result;         ///< the result's shape

  AxisSet(const Row& row, const Array& x, const std::optional<Dims>& axes, bool keepdims) {
    const int ndim = x.ndim();
    for (int axis = 0; axis < ndim; ++axis) reduced[axis] = !axes;
    if (axes)
      for (int64_t named : *axes) {
        const bool counts = row.rule == ResultRule::mean || row.rule == ResultRule::moments;
        if (ndim == 0 && (named == 0 || named == -1) && !counts) continue;  // as NumPy: a scalar has an axis to reduce
        const int axis = normalize_axis(row.name, named, ndim);
        if (reduced[axis]) throw ValueError(std::string(row.name) + ": duplicate value in 'axis': " + to_string(*axes));
        reduced[axis] = true;
      }
    for (int axis = 0; axis < ndim; ++axis) {
      if (reduced[axis]) length *= x.shape(axis);
      if (!reduced[axis] || keepdims) result.push_back(reduced[axis] ? 1 : x.shape(axis));
    }
  }
};

void push_axes(jit::ArgumentBlock& block, const ReductionAxis* axes, int rank) {
  const ReductionAxis none{1, 0, 0, false};
  const int size = std::max(rank, 1);
  for (int64_t ReductionAxis::* member : {&ReductionAxis::extent, &ReductionAxis::stride, &ReductionAxis::step})
    for (int k = 0; k < size; ++k) block.push((rank ? axes[k] : none).*member);
}

jit::ArgumentBlock arguments_of(const ReductionPlan& plan, const Array& x, const Array& result, void* partial,
                                int64_t stage, double correction) {
  jit::ArgumentBlock block;
  block.push(static_cast<char*>(x.data()) + plan.offset);
  block.push(result.data());
  block.push(partial);
  block.push(std::array{stage, plan.chunks, plan.outputs});
  block.push(std::max(static_cast<double>(plan.length) - correction, 0.0));
  block.push(std::array{plan.out_offset, plan.rows, plan.rows_per_chunk, plan.parts, plan.part_length, plan.strips,
                        plan.inner.extent, plan.inner.stride, plan.inner.step});
  push_axes(block, plan.kept, plan.kept_rank);
  push_axes(block, plan.reduced, plan.reduced_rank);
  const BlockShape& shape = plan.block;  // unused by the CPU's text
  block.push(std::array{stage ? shape.join_outputs : shape.units, stage ? 0 : shape.lane_bits,
                        stage ? std::countr_zero(static_cast<unsigned>(shape.join_outputs)) : shape.slot_bits,
                        shape.lanes, shape.row_lanes, shape.strip_width, shape.rest});
  return block;
}

void reduce_into(const Array& result, const Row& row, const Array& x, const AxisSet& axes, const ReductionTypes& types,
                 double correction) {
  const bool keeps_index = row.rule == ResultRule::index;
  const std::span<const bool> reduced(axes.reduced, static_cast<size_t>(x.ndim()));
  const int64_t partial_bytes = row.rule == ResultRule::moments ? 32 : keeps_index || carries_pair(row.rule) ? 16 : 8;
  const auto& loops = x.device().service<ReductionLoops>();
  const ReductionPlan plan = loops.plan(x, reduced, keeps_index, partial_bytes);
  const ReductionVariant variant{types,
                                 plan.form,
                                 plan.spacing,
                                 plan.chunks > 1,
                                 plan.kept_rank,
                                 plan.reduced_rank,
                                 plan.row_length,
                                 plan.block.vector_bytes,
                                 plan.block.is_wide};
  const jit::Program& program = program_for(row, variant, x.device());
  std::optional<Array> partial;
  if (plan.chunks > 1) partial = Array::empty({plan.chunks * plan.outputs * kPartialBytes}, Dtype::uint8, x.device());
  void* memory = partial ? partial->data() : nullptr;
  loops.launch(program, arguments_of(plan, x, result, memory, 0, correction),
               {plan.units, plan.elements_per_unit, plan.block.units});
  if (plan.chunks > 1)
    loops.launch(program, arguments_of(plan, x, result, memory, 1, correction),
                 {plan.outputs, plan.chunks, plan.block.join_outputs});
}

/// From this many elements on, other ways to the same result are worth their own calls.
constexpr int64_t kManyElements = 1 << 12;

/// Whether vectors add the parts of complex numbers, which is faster than adding the numbers.
bool adds_parts(const Row& row, const Array& x, const ReductionTypes& types) {
  return row.has(Row::kAddsElements) && !row.has(Row::kIgnoresNan) && x.size() >= kManyElements &&
         is_complex(x.dtype()) && types.output == x.dtype() && x.device().target().is_host && x.ndim() < kMaxRank;
}

/// Whether the first of many elements decide the result.
bool is_decided_early(const Row& row, const Array& x, const AxisSet& axes) {
  if (!row.has(Row::kDecidedByOneElement) || axes.length != x.size() || x.size() < 16 * kManyElements) return false;
  if (!x.device().target().is_host || !x.is_c_contiguous()) return false;
  const Array first = x.reshape({-1}).at(Slice{0, kManyElements, {}});
  return reduce_row(row, first, {}, false, {}, {}).item().as_bool() != (row.start == Start::one);
}

[[noreturn]] void raise_empty(const Row& row) {
  if (row.rule == ResultRule::index)
    throw ValueError(std::string("attempt to get ") + row.name + " of an empty sequence");
  const char* ufunc = row.start == Start::lowest ? "maximum" : row.start == Start::highest ? "minimum" : row.name;
  throw ValueError(std::string("zero-size array to reduction operation ") + ufunc + " which has no identity");
}

void fill_empty(Array& result, const Row& row) {
  if (row.rule == ResultRule::mean || row.rule == ResultRule::moments || row.rule == ResultRule::numbers) {
    result.fill(static_cast<double>(NAN));
  } else {
    result.fill(row.start == Start::one || (row.start == Start::ones && result.dtype() == Dtype::bool_));
    if (row.start == Start::ones && result.dtype() != Dtype::bool_)
      result.fill(kind(result.dtype()) == Kind::signed_integer ? Scalar(-1)
                                                               : Scalar(UINT64_MAX >> (64 - 8 * result.itemsize())));
  }
}

/// The elements cast to `dtype`. Rows that ignore NaN ignore it also where the cast would lose it: a complex number
/// with only its imaginary part NaN stays NaN, and an integer becomes the number that changes nothing.
Array cast_input(const Row& row, const Array& x, Dtype dtype) {
  const bool loses_nan = row.has(Row::kIgnoresNan) && is_inexact(x.dtype()) &&
                         (!is_inexact(dtype) || (is_complex(x.dtype()) && kind(dtype) == Kind::floating));
  if (!loses_nan) return x.astype(dtype);
  const Scalar ignored = is_inexact(dtype) ? Scalar(static_cast<double>(NAN)) : Scalar(row.start == Start::one);
  return ElementwiseFunction("where")(ElementwiseFunction("isnan")(x), ignored, x).astype(dtype);
}

/// The products in NumPy's order, one factor after the other.
Array products_in_order(const Array& x, const AxisSet& axes, Dtype dtype) {
  Dims order, shape{1, axes.length};
  for (const bool reduced : {false, true})
    for (int axis = 0; axis < x.ndim(); ++axis)
      if (axes.reduced[axis] == reduced) order.push_back(axis);
  shape[0] = x.size() / axes.length;
  const Array rows = x.transpose(order).reshape(shape);
  return fold_in_order(multiply, rows, 1, dtype).reshape(axes.result);
}

/// Recomputes in NumPy's order the products that are 0 though no factor is, or infinite or NaN though no factor is NaN:
/// whether a partial product overflows depends on the order.
template <class T>
void recompute_products(Array& products, const Row& row, const Array& x, const std::optional<Dims>& axes,
                        bool keepdims) {
  const std::span<T> values(static_cast<T*>(products.data()), static_cast<size_t>(products.size()));
  const auto is_zero = [](T value) { return value == 0; };
  const auto is_beyond = [](T value) { return !std::isfinite(value); };
  const bool any_zero = std::ranges::any_of(values, is_zero), any_beyond = std::ranges::any_of(values, is_beyond);
  if (!any_zero && !any_beyond) return;
  const ElementwiseFunction where("where"), isnan("isnan");
  const Array factors = row.has(Row::kIgnoresNan) ? where(isnan(x), 1, x) : x;
  const auto ask = [&](const char* question) {
    return reduce_row(reduction_row(question), factors, axes, keepdims, {}, {});
  };
  const Array nonzero = any_zero ? ask("all") : Array(), numbers = any_beyond ? ask("all_numbers") : Array();
  Array ordered;
  for (size_t k = 0; k < values.size(); ++k) {
    if (!is_zero(values[k]) && !is_beyond(values[k])) continue;
    if (!static_cast<const bool*>((is_zero(values[k]) ? nonzero : numbers).data())[k]) continue;
    if (!ordered.valid()) ordered = products_in_order(factors, AxisSet(row, x, axes, keepdims), products.dtype());
    values[k] = static_cast<const T*>(ordered.data())[k];
  }
}

void recompute_products(Array& products, const Row& row, const Array& x, const std::optional<Dims>& axes,
                        bool keepdims) {
  if (row.start != Start::one || row.rule != ResultRule::sum) return;
  if (!x.device().target().is_host) return;  // reading the products would wait for the device
  if (products.dtype() == Dtype::float64) recompute_products<double>(products, row, x, axes, keepdims);
  if (products.dtype() == Dtype::float32) recompute_products<float>(products, row, x, axes, keepdims);
}

}  // namespace
}  // namespace ops

ReductionFunction::ReductionFunction(const char* name) : row_(&ops::reduction_row(name)) {}

const char* ReductionFunction::name() const { return row_->name; }
const char* ReductionFunction::documentation() const { return row_->documentation; }
bool ReductionFunction::takes_dtype() const {
  return row_->keywords == ops::Keywords::sum || row_->keywords == ops::Keywords::mean;
}

namespace ops {

Array reduce_row(const Row& row, const Array& x, const std::optional<Dims>& axes, bool keepdims,
                 std::optional<Dtype> dtype, const RowOptions& options) {
  // No integer is NaN: nanmin is min.
  if (row.start == Start::nan && !is_inexact(x.dtype()))
    return reduce_row(reduction_row(row.name + std::string_view("nan").size()), x, axes, keepdims, dtype, options);
  const bool takes_dtype = row.rule == ResultRule::sum || row.rule == ResultRule::mean || row.rule == ResultRule::same;
  ReductionTypes types = reduction_types(row, x.dtype());
  if (dtype && takes_dtype && *dtype != types.output) {
    if (row.rule == ResultRule::same || !accumulates_as(types, *dtype)) {
      if (x.dtype() != *dtype) return reduce_row(row, cast_input(row, x, *dtype), axes, keepdims, dtype, options);
    }
    types.output = *dtype;
  }
  const AxisSet set(row, x, axes, keepdims);
  Array result = Array::empty(set.result, types.output, x.device());
  if (set.length == 0 && !row.has_identity && !options.may_be_empty) raise_empty(row);
  if (result.size() == 0) return result;
  if (set.length == 0) {
    if (row.has_identity) fill_empty(result, row);
    return result;
  }
  if (is_decided_early(row, x, set)) {
    result.fill(row.start != Start::one);
    return result;
  }
  jit::naming_kernel(row.name, [&] {
    if (adds_parts(row, x, types))
      reduce_into(parts_of(result), row, parts_of(x), set, reduction_types(row, real_dtype(x.dtype())), 0);
    else
      reduce_into(result, row, x, set, types, options.correction);
  });
  recompute_products(result, row, x, axes, keepdims);
  return result;
}

const Row& reduction_row(std::string_view name) {
  for (const Row& row : reduction_table())
    if (row.name == name) return row;
  throw ValueError("there is no reduction named " + std::string(name));
}

}  // namespace ops

Array ReductionFunction::operator()(const Array& x, std::optional<Dims> axes, bool keepdims,
                                    std::optional<Dtype> dtype) const {
  const Array result = ops::reduce_row(*row_, x, axes, keepdims, dtype);
  if (ops::current_listener)
    ops::current_listener->reduced(*this, x, {.axes = axes, .keepdims = keepdims, .dtype = dtype}, result);
  return result;
}

std::vector<std::string> reduction_names() {
  std::vector<std::string> names;
  for (const auto& row : ops::reduction_table())
    if (row.keywords != ops::Keywords::none) names.emplace_back(row.name);
  return names;
}

}  // namespace iruka
