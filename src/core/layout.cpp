// Broadcasting, merging and ordering the axes of a loop.
#include "core/layout.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "iruka/error.h"

namespace iruka {

LoopLayout::LoopLayout(const Dims& shape, std::span<const LoopOperand> operands)
    : rank_(std::max(shape.size(), 1)), pitch_(rank_), operands_(static_cast<int>(operands.size())), count_(1) {
  const int needed = pitch_ * (operands_ + 1) + operands_;
  if (needed > kInline) heap_ = std::make_unique<int64_t[]>(needed);
  int64_t* const loop_extents = storage();
  loop_extents[0] = 1;
  for (int axis = 0; axis < shape.size(); ++axis) count_ *= loop_extents[axis] = shape[axis];
  int64_t* to = loop_extents + pitch_;
  for (const LoopOperand& operand : operands) {
    const int64_t *from_shape = operand.shape, *from_strides = operand.strides;
    const int rank = operand.rank, lead = rank_ - rank;
    bool fits = rank <= shape.size();
    for (int axis = 0; axis < lead; ++axis) to[axis] = 0;
    for (int axis = 0; fits && axis < rank; ++axis) {
      const bool broadcast = from_shape[axis] == 1;
      to[lead + axis] = broadcast ? 0 : from_strides[axis];
      fits = broadcast || from_shape[axis] == loop_extents[lead + axis];
    }
    if (!fits)
      throw ShapeError("operand of shape " + to_string(Dims(operand.shape, rank)) + " does not broadcast to " +
                       to_string(shape));
    to += pitch_;
  }
  std::fill_n(to, operands_, 0);
}

void LoopLayout::merge_axes() {
  int64_t* const loop_extents = storage();
  if (count_ <= 1) {
    rank_ = 1;
    loop_extents[0] = count_;
    return;
  }
  int merged = -1;
  for (int axis = 0; axis < rank_; ++axis) {
    const int64_t extent = loop_extents[axis];
    if (extent == 1) continue;
    bool joins = merged >= 0;
    for (int operand = 0; joins && operand < operands_; ++operand) {
      const int64_t* stride = strides(operand);
      joins = stride[merged] == extent * stride[axis];
    }
    if (!joins)
      loop_extents[++merged] = extent;
    else
      loop_extents[merged] *= extent;
    if (merged == axis) continue;
    int64_t* stride = loop_extents + pitch_;
    for (int operand = 0; operand < operands_; ++operand, stride += pitch_) stride[merged] = stride[axis];
  }
  rank_ = merged + 1;
}

/// The first operand with nonzero strides along both axes decides; outputs come first.
LoopLayout::Order LoopLayout::order_of(int outer, int inner, int first_output) const {
  for (int i = 0; i < operands_; ++i) {
    const int operand = (first_output + i) % operands_;
    const int64_t outer_step = std::abs(stride(operand, outer)), inner_step = std::abs(stride(operand, inner));
    if (outer_step == 0 || inner_step == 0 || outer_step == inner_step) continue;
    return outer_step < inner_step ? Order::swap : Order::keep;
  }
  return Order::any;
}

void LoopLayout::swap_axes(int a, int b) {
  std::swap(storage()[a], storage()[b]);
  for (int operand = 0; operand < operands_; ++operand)
    std::swap(mutable_strides(operand)[a], mutable_strides(operand)[b]);
}

void LoopLayout::flip_axis(int axis) {
  int64_t* const shift = storage() + pitch_ * (operands_ + 1);
  for (int operand = 0; operand < operands_; ++operand) {
    int64_t& stride = mutable_strides(operand)[axis];
    shift[operand] += (extent(axis) - 1) * stride;
    stride = -stride;
  }
}

void LoopLayout::reorder_axes(int first_output) {
  if (count_ <= 1 || operands_ == 0) return;
  first_output %= operands_;
  for (int axis = 0; axis < rank_; ++axis) {
    bool forwards = false, backwards = false;
    for (int operand = 0; operand < operands_; ++operand) {
      forwards |= stride(operand, axis) > 0;
      backwards |= stride(operand, axis) < 0;
    }
    if (backwards && !forwards && extent(axis) > 1) flip_axis(axis);
  }
  // An insertion sort that skips axes it cannot compare, as NumPy's iterator does.
  for (int next = 1; next < rank_; ++next) {
    int place = next;
    for (int axis = next - 1; axis >= 0; --axis) {
      const Order order = order_of(axis, next, first_output);
      if (order == Order::keep) break;
      if (order == Order::swap) place = axis;
    }
    for (int axis = next; axis > place; --axis) swap_axes(axis - 1, axis);
  }
}

bool is_aligned(const void* data, Dtype dtype, const Dims& shape, const Dims& strides) {
  const int64_t bytes = alignment(dtype);
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) != 0) return false;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] > 1 && strides[axis] % bytes != 0) return false;
  return true;
}

}  // namespace iruka
