// Indexing with arrays: entries to a plan, a plan to the device's walk.
#include "iruka/indexing.h"

#include <algorithm>
#include <mutex>

#include "iruka/device.h"
#include "ops/index/compaction.h"
#include "ops/index/index_plan.h"

namespace iruka {
namespace {

using ops::IndexPlan, ops::Indexing;

constexpr Indexing kCpu{ops::gather_cpu, ops::scatter_cpu, ops::true_positions_cpu, ops::compress_cpu};
constexpr Indexing kCuda{ops::gather_cuda, ops::scatter_cuda, ops::true_positions_cuda, nullptr};

/// The entries as a basic index, where all are.
std::optional<std::vector<Index>> basic_entries(std::span<const AnyIndex> entries) {
  std::vector<Index> basic;
  for (const AnyIndex& entry : entries) {
    if (std::holds_alternative<Array>(entry)) return {};
    std::visit(
        [&](const auto& value) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, Array>) basic.emplace_back(value);
        },
        entry);
  }
  return basic;
}

/// The mask of x's first axes, if the index is a single mask. Raises ValueError if it is on another device.
const Array* single_mask(const Array& x, std::span<const AnyIndex> entries) {
  const Array* mask = entries.size() == 1 ? std::get_if<Array>(&entries[0]) : nullptr;
  if (!mask || mask->dtype() != Dtype::bool_ || mask->ndim() == 0 || mask->ndim() > x.ndim()) return nullptr;
  ops::check_device("a mask", *mask, x.device());
  return std::equal(mask->shape().begin(), mask->shape().end(), x.shape().begin()) ? mask : nullptr;
}

/// x with as many first axes as the mask has made one, where strides allow that.
std::optional<Array> join_masked_axes(const Array& x, const Array& mask) {
  Dims shape{mask.size()};
  for (int axis = mask.ndim(); axis < x.ndim(); ++axis) shape.push_back(x.shape(axis));
  return x.reshape_view(shape);
}

/// A plan with one position for each true element of the mask, not one an axis.
IndexPlan plan_mask(const Array& joined, const Array& mask) {
  IndexPlan plan = ops::plan_take(joined, flatnonzero(mask), 0, IndexMode::raise);
  plan.is_distinct = true;
  return plan;
}

Array gather(const IndexPlan& plan) { return plan.base.device().service<Indexing>().gather(plan); }

/// The same, but an index out of bounds is no error where it chooses nothing.
Array gather_some(const IndexPlan& plan) {
  if (count(plan.shape()) == 0) return Array::empty(plan.shape(), plan.base.dtype(), plan.base.device());
  return gather(plan);
}

/// `values` as the target's elements, in the plan's shape, not in memory that the target or an index shares.
Array prepare_values(const Array& x, const Dims& shape, const Array& values) {
  Array near = values.to_device(x.device()).astype(x.dtype(), false);
  if (near.may_overlap(x)) near = near.copy();
  near = ops::drop_leading_axes(near, shape.size());
  try {
    return near.broadcast_to(shape);
  } catch (const ShapeError&) {
    throw ShapeError("shape mismatch: value array of shape " + to_string(values.shape()) +
                     " could not be broadcast to indexing result of shape " + to_string(shape));
  }
}

void scatter(const Array& x, IndexPlan& plan, const Array& values) {
  const Array ready = prepare_values(x, plan.shape(), values);
  for (ops::IndexOperand& operand : plan.operands) {
    if (!operand.own.may_overlap(x)) continue;  // x[x] = values uses the indices from before the assignment
    const Array own = operand.own.copy();
    operand.positions = own.broadcast_to(plan.shape());
    operand.own = own;
  }
  x.device().service<Indexing>().scatter(plan, ready);
}

void check_writable(const Array& x) { x.check_writable("assignment destination"); }

/// x = mask ? value : x, without asking where the mask is true.
void fill_where(const Array& x, const Array& mask, const Array& value) {
  Array one = value.to_device(x.device()).reshape({}).astype(x.dtype(), false);
  if (one.may_overlap(x)) one = one.copy();
  Dims shape = mask.shape();  // broadcasts over the other axes
  while (shape.size() < x.ndim()) shape.push_back(1);
  where(mask.reshape(shape), one, x, x);
}

Array flat(const Array& x) { return x.reshape({-1}); }

void check_take(const Array& indices, int64_t extent) {
  if (extent == 0 && indices.size() > 0) throw IndexError("cannot do a non-empty take from an empty axes.");
}

}  // namespace

const Implementations<const Indexing> Indexing::implementations{"indexing", {&kCpu, &kCuda}};

IndexMode parse_index_mode(const std::string& mode) {
  if (mode == "raise") return IndexMode::raise;
  if (mode == "wrap") return IndexMode::wrap;
  if (mode == "clip") return IndexMode::clip;
  throw ValueError("clipmode must be one of 'clip', 'raise', or 'wrap' (got '" + mode + "')");
}

Array index(const Array& x, std::span<const AnyIndex> indices) {
  if (const auto basic = basic_entries(indices)) return x.index(*basic);
  if (const Array* mask = single_mask(x, indices)) {
    const Indexing& indexing = x.device().service<Indexing>();
    if (indexing.compress && mask->ndim() == x.ndim()) return indexing.compress(x.contiguous(), mask->contiguous());
    if (const auto joined = join_masked_axes(x, *mask)) return gather(plan_mask(*joined, *mask));
  }
  return gather(ops::plan_index(x, indices));
}

void assign_index(const Array& x, std::span<const AnyIndex> indices, const Array& values) {
  check_writable(x);
  if (const auto basic = basic_entries(indices)) return x.index(*basic).assign(values);
  if (const Array* mask = single_mask(x, indices)) {
    if (values.size() == 1 && values.ndim() <= 1 + x.ndim() - mask->ndim()) return fill_where(x, *mask, values);
    if (const auto joined = join_masked_axes(x, *mask)) {
      IndexPlan plan = plan_mask(*joined, *mask);
      return scatter(*joined, plan, values);
    }
  }
  IndexPlan plan = ops::plan_index(x, indices);
  scatter(x, plan, values);
}

Array take(const Array& x, const Array& indices, std::optional<int64_t> named, IndexMode mode) {
  const bool is_flat = !named || x.ndim() == 0;
  if (named && x.ndim() == 0) normalize_axis("take", *named, 1);
  const Array from = is_flat ? flat(x) : x;
  const int axis = is_flat ? 0 : normalize_axis("take", *named, x.ndim());
  check_take(indices, from.shape(axis));
  return gather_some(ops::plan_take(from, indices, axis, mode));
}

void put(const Array& x, const Array& indices, const Array& values, IndexMode mode) {
  x.check_writable("put: output array");
  if (indices.size() == 0) return;
  if (x.size() == 0) throw IndexError("cannot replace elements of an empty array");
  if (values.size() == 0) return;
  const Array positions = flat(indices);
  Array repeated = flat(values);
  if (repeated.size() != 1) {
    if (repeated.size() < positions.size())
      repeated = take(repeated, arange(positions.size()).to_device(repeated.device()), 0, IndexMode::wrap);
    repeated = repeated.at(Slice{0, positions.size(), {}});
  }
  // Where x has no flat view, a flat copy is written and copied back.
  const std::optional<Array> view = x.reshape_view({-1});
  const Array target = view ? *view : flat(x);
  IndexPlan plan = ops::plan_take(target, positions, 0, mode);
  scatter(target, plan, repeated);
  if (!view) Array(x).assign(target.reshape(x.shape()));
}

Array take_along_axis(const Array& x, const Array& indices, int64_t axis) {
  return gather_some(ops::plan_along_axis("take_along_axis", x, indices, axis));
}

void put_along_axis(const Array& x, const Array& indices, const Array& values, int64_t axis) {
  check_writable(x);
  IndexPlan plan = ops::plan_along_axis("put_along_axis", x, indices, axis);
  scatter(x, plan, values);
}

Array ops::true_positions(const Array& mask) { return mask.device().service<Indexing>().true_positions(mask); }

Array flatnonzero(const Array& x) { return ops::true_positions(x.astype(Dtype::bool_, false).contiguous()); }

Array nonzero(const Array& x) {
  const Array positions = flatnonzero(x);
  return x.ndim() <= 1 ? positions.reshape({1, -1}) : unravel_index(positions, x.shape());
}

}  // namespace iruka
