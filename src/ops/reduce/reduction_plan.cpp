#include "ops/reduce/reduction_plan.h"

#include <algorithm>

namespace iruka::ops {
namespace {

/// Elements that keep one thread busy for some ten microseconds; and how many units are enough for any machine.
constexpr int64_t kChunk = 65536, kEnoughUnits = 256;

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

class AxisList {
 public:
  AxisList(const Array& x, std::span<const bool> reduced, bool keeps_index) : keeps_index_(keeps_index) {
    int64_t out_step = 1, index_step = 1;
    for (int axis = x.ndim() - 1; axis >= 0; --axis) {
      int64_t& step = reduced[static_cast<size_t>(axis)] ? index_step : out_step;
      if (x.shape(axis) != 1)
        axes_[size_++] = {x.shape(axis), x.strides()[axis], step, reduced[static_cast<size_t>(axis)]};
      step *= x.shape(axis);
    }
    std::reverse(axes_, axes_ + size_);
  }

  /// Gives every axis a positive stride, except reduced axes whose order decides which index is first.
  void flip(ReductionPlan& plan) {
    for (int k = 0; k < size_; ++k) {
      ReductionAxis& axis = axes_[k];
      if (axis.stride >= 0 || (axis.reduced && keeps_index_)) continue;
      plan.offset += (axis.extent - 1) * axis.stride;
      axis.stride = -axis.stride;
      if (axis.reduced) continue;
      plan.out_offset += (axis.extent - 1) * axis.step;
      axis.step = -axis.step;
    }
  }

  /// Sorts axes by decreasing stride; broadcast axes are outermost.
  void sort() {
    auto distance = [](const ReductionAxis& axis) { return axis.stride == 0 ? INT64_MAX : std::abs(axis.stride); };
    std::stable_sort(axes_, axes_ + size_, [&](const auto& a, const auto& b) { return distance(a) > distance(b); });
  }

  void merge() {
    int last = 0;
    for (int k = 1; k < size_; ++k) {
      ReductionAxis &outer = axes_[last], &inner = axes_[k];
      const bool steps_join = outer.step == inner.step * inner.extent || (inner.reduced && !keeps_index_);
      if (outer.reduced == inner.reduced && outer.stride == inner.stride * inner.extent && steps_join) {
        inner.extent *= outer.extent;
        outer = inner;
      } else {
        axes_[++last] = inner;
      }
    }
    if (size_ > 0) size_ = last + 1;
  }

  /// Chooses the innermost axis, unless it is short and a long axis of the other kind makes the better inner loop.
  ReductionAxis take_inner(bool swaps) {
    if (size_ == 0) return {1, 0, 0, true};
    int chosen = size_ - 1;
    if (swaps && axes_[chosen].extent < 16)
      for (int k = size_ - 1; k >= 0; --k)
        if (axes_[k].reduced != axes_[chosen].reduced && axes_[k].extent >= 32) {
          chosen = k;
          break;
        }
    const ReductionAxis inner = axes_[chosen];
    std::copy(axes_ + chosen + 1, axes_ + size_, axes_ + chosen);
    --size_;
    return inner;
  }

  std::span<const ReductionAxis> axes() const { return {axes_, static_cast<size_t>(size_)}; }

 private:
  bool keeps_index_;
  int size_ = 0;
  ReductionAxis axes_[kMaxRank];
};

bool is_short_rows(std::span<const ReductionAxis> axes, int64_t itemsize, int64_t longest) {
  if (axes.size() != 2) return false;
  const ReductionAxis &outer = axes[0], &inner = axes[1];
  return inner.reduced && inner.extent <= longest && inner.stride == itemsize && !outer.reduced &&
         outer.stride == inner.extent * itemsize && outer.step == 1;
}

bool is_periodic(std::span<const ReductionAxis> axes, int64_t itemsize, int64_t longest) {
  if (axes.size() < 2) return false;
  const ReductionAxis &outer = axes[axes.size() - 2], &inner = axes.back();
  const auto reduced = std::count_if(axes.begin(), axes.end(), [](const ReductionAxis& axis) { return axis.reduced; });
  return reduced == 1 && outer.reduced && !inner.reduced && inner.extent <= longest && inner.stride == itemsize &&
         outer.stride == inner.extent * itemsize;
}

void cut_rows(ReductionPlan& plan) {
  plan.rows_per_chunk = plan.rows;
  plan.part_length = plan.inner.extent;
  plan.units = plan.outputs;
  plan.elements_per_unit = plan.length;
  if (plan.form == ReductionForm::short_rows || plan.outputs >= kEnoughUnits || plan.length <= kChunk) return;
  plan.rows_per_chunk = std::max<int64_t>(1, kChunk / plan.inner.extent);
  plan.part_length = std::min(kChunk, plan.inner.extent);
  plan.parts = ceil_divide(plan.inner.extent, plan.part_length);
  plan.chunks = ceil_divide(plan.rows, plan.rows_per_chunk) * plan.parts;
  plan.units = plan.outputs * plan.chunks;
  plan.elements_per_unit = plan.rows_per_chunk * plan.part_length;
}

void cut_strips(ReductionPlan& plan) {
  const int64_t lines = plan.outputs / plan.inner.extent;
  const ColumnCut cut = cut_columns(plan.rows, plan.inner.extent, lines);
  plan.strips = cut.strips;
  plan.rows_per_chunk = cut.rows_per_chunk;
  plan.chunks = cut.chunks;
  plan.units = lines * cut.strips * cut.chunks;
  plan.elements_per_unit = plan.rows_per_chunk * std::min(plan.inner.extent, kStripWidth);
}

}  // namespace

ColumnCut cut_columns(int64_t rows, int64_t columns, int64_t lines) {
  const int64_t width = std::min(columns, kStripWidth);
  ColumnCut cut{ceil_divide(columns, kStripWidth), rows};
  const int64_t strips = lines * cut.strips;
  if (strips < kEnoughUnits && rows * width > kChunk) {
    const int64_t enough = rows * strips / kEnoughUnits;  // longer chunks leave fewer partial results
    cut.rows_per_chunk = std::max<int64_t>({16, kChunk / width, enough});
    cut.chunks = ceil_divide(rows, cut.rows_per_chunk);
  }
  return cut;
}

ReductionPlan plan_walk(const Array& x, std::span<const bool> reduced, bool keeps_index, const WalkRules& rules) {
  ReductionPlan plan;
  AxisList list(x, reduced, keeps_index);
  list.flip(plan);
  list.sort();
  list.merge();
  const bool short_rows = is_short_rows(list.axes(), x.itemsize(), rules.short_row);
  const bool periodic = !keeps_index && is_periodic(list.axes(), x.itemsize(), rules.longest_period);
  if (short_rows || periodic) {
    plan.inner = list.axes().back();
  } else {
    plan.inner = list.take_inner(rules.swaps_inner);
  }
  const auto outer = short_rows || periodic ? list.axes().first(list.axes().size() - 1) : list.axes();
  for (const ReductionAxis& axis : outer)
    (axis.reduced ? plan.reduced[plan.reduced_rank++] : plan.kept[plan.kept_rank++]) = axis;

  for (int k = 0; k < plan.reduced_rank; ++k) plan.rows *= plan.reduced[k].extent;
  for (int k = 0; k < plan.kept_rank; ++k) plan.outputs *= plan.kept[k].extent;
  plan.length = plan.rows * (plan.inner.reduced ? plan.inner.extent : 1);
  if (!plan.inner.reduced) plan.outputs *= plan.inner.extent;
  const bool is_vector = !is_complex(x.dtype());
  plan.spacing = plan.inner.stride == x.itemsize() ? 1 : is_vector && plan.inner.stride == 2 * x.itemsize() ? 2 : 0;
  plan.form = short_rows           ? ReductionForm::short_rows
              : periodic           ? ReductionForm::periodic
              : plan.inner.reduced ? ReductionForm::rows
                                   : ReductionForm::columns;
  return plan;
}

ReductionPlan plan_reduction(const Array& x, std::span<const bool> reduced, bool keeps_index,
                             int64_t /*partial_bytes*/) {
  ReductionPlan plan = plan_walk(x, reduced, keeps_index, {});
  plan.inner.reduced ? cut_rows(plan) : cut_strips(plan);
  if (plan.form == ReductionForm::short_rows) plan.row_length = plan.inner.extent;
  return plan;
}

}  // namespace iruka::ops
