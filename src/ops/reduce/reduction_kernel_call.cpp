#include "ops/reduce/reduction_kernel_call.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>

#include "core/device.h"
#include "core/fork.h"
#include "core/layout.h"

namespace iruka::ops {
namespace {

constinit ForkSafeMutex stage_mutex;  ///< one for all kernels, as fork() holds it

/// The size of a partial result; the maximum for a type that only the compiler knows.
int64_t partial_bytes(const ReductionTexts& texts, const Dtype* types) {
  if (texts.options.reduce_type.empty()) return itemsize(types[texts.inputs.size()]);
  const std::string type = reduce_type_of(texts);
  for (int dtype = 0; dtype < kDtypeCount; ++dtype)
    if (type == info(static_cast<Dtype>(dtype)).c_type) return itemsize(static_cast<Dtype>(dtype));
  return kMostReductionBytes;
}

/// Makes the plan of a call.
class Planner {
 public:
  Planner(ReductionKernel::State& state, std::span<const Argument> arguments, std::span<const Array> elements,
          const Dtype* types, Device& device)
      : state_(state),
        texts_(state.texts),
        arguments_(arguments),
        elements_(elements),
        types_(types),
        planning_(device.service<ReductionPlanning>()) {}

  std::shared_ptr<ReductionPlan> make(const PlanKey& key, const ReductionAxes& axes) {
    plan_->key = key;
    resolve_shape();
    resolve_axes(axes);
    plan_->is_copied = !merge(false, false);
    if (plan_->is_copied) merge(true, false);
    is_sorted_ = sort_columns();
    plan_stages();
    return std::move(plan_);
  }

 private:
  bool is_element(size_t k) const { return arguments_[k].is_array() && texts_.inputs[k].has_elements(); }

  void resolve_shape() {
    if (elements_.empty()) {
      const bool has_raw = !std::ranges::all_of(texts_.inputs, &Parameter::has_elements);
      throw ValueError("kernel '" + texts_.name + "': there is no shape to reduce: " +
                       (has_raw ? "every array is raw" : "no argument is an array"));
    }
    std::vector<const Dims*> shapes;
    for (const Array& element : elements_) shapes.push_back(&element.shape());
    try {
      plan_->shape = broadcast_shapes(shapes);
    } catch (const ShapeError&) {
      std::string list;
      for (size_t k = 0; k < texts_.inputs.size(); ++k)
        if (is_element(k))
          list += (list.empty() ? "" : ", ") + texts_.inputs[k].name + " " + to_string(arguments_[k].array().shape());
      throw ShapeError("kernel '" + texts_.name + "': the arrays do not broadcast together: " + list);
    }
  }

  void resolve_axes(const ReductionAxes& axes) {
    const int ndim = plan_->shape.size();
    std::vector<bool> is_reduced(static_cast<size_t>(ndim), !axes.axes);
    for (const int64_t named : axes.axes.value_or(Dims())) {
      if (ndim == 0 && (named == 0 || named == -1)) continue;  // as NumPy: a scalar has an axis to reduce
      const auto axis = static_cast<size_t>(normalize_axis(texts_.name.c_str(), named, ndim));
      if (is_reduced[axis]) throw IndexError(texts_.name + ": duplicate value in 'axis': " + to_string(*axes.axes));
      is_reduced[axis] = true;
    }
    for (const bool goes : {false, true})
      for (int axis = 0; axis < ndim; ++axis) {
        if (is_reduced[static_cast<size_t>(axis)] != goes) continue;
        (goes ? reduced_ : kept_).push_back(plan_->shape[axis]);
        plan_->order.push_back(axis);
      }
    for (int axis = 0; axis < ndim; ++axis) {
      const bool goes = is_reduced[static_cast<size_t>(axis)];
      if (!goes || axes.keepdims) plan_->result.push_back(goes ? 1 : plan_->shape[axis]);
    }
    plan_->length = count(reduced_);
    plan_->index_shape = reduced_;
    for (const int64_t extent : kept_) plan_->index_shape.push_back(extent);
  }

  /// The strides of an input over the whole shape in the plan's order of axes.
  Dims ordered_strides(const Array& element, bool is_copied) const {
    const int ndim = plan_->shape.size(), missing = ndim - element.ndim();
    Dims strides(ndim);
    int64_t next = element.itemsize();
    for (int at = ndim - 1; at >= 0; --at) {
      const int axis = static_cast<int>(plan_->order[at]);
      if (is_copied) {
        strides[at] = next;
        next *= std::max<int64_t>(plan_->shape[axis], 1);
      } else if (axis >= missing && (element.shape()[axis - missing] != 1 || plan_->shape[axis] == 1)) {
        strides[at] = element.strides()[axis - missing];
      }
    }
    return strides;
  }

  /// Views of few axes. False if the innermost reduced axis is too short for a loop and other reduced axes exist;
  /// contiguous copies have one reduced axis. `sorts`: whether kept axes are sorted by the strides of the inputs.
  bool merge(bool is_copied, bool sorts) {
    constexpr int64_t kShortest = 16;
    const int kept = kept_.size(), reduced = reduced_.size();
    std::vector<Dims> kept_strides, reduced_strides;
    for (const Array& element : elements_) {
      const Dims strides = ordered_strides(element, is_copied);
      kept_strides.emplace_back(strides.begin(), kept);
      reduced_strides.emplace_back(strides.begin() + kept, reduced);
    }
    Dims steps(kept, 1);
    for (int axis = kept - 1; axis > 0; --axis) steps[axis - 1] = steps[axis] * std::max<int64_t>(kept_[axis], 1);
    std::vector<LoopOperand> kept_operands{{&kept_, &steps}}, reduced_operands;
    for (size_t k = 0; k < elements_.size(); ++k) {
      kept_operands.push_back({&kept_, &kept_strides[k]});
      reduced_operands.push_back({&reduced_, &reduced_strides[k]});
    }
    LoopLayout kept_loop(kept_, kept_operands), reduced_loop(reduced_, reduced_operands);
    if (sorts) kept_loop.reorder_axes(1);
    kept_loop.merge_axes();
    if (!state_.sees_order && reduced_loop.rank() > 1) reduced_loop.reorder_axes(0);
    reduced_loop.merge_axes();
    kept_axes_ = kept_loop.rank();
    outer_axes_ = reduced_loop.rank() - 1;
    inner_ = kept_loop.extent(kept_axes_ - 1);
    n_ = reduced_loop.extent(outer_axes_);
    if (outer_axes_ > 0 && n_ < kShortest && !is_copied) return false;
    plan_->steps = Dims(kept_loop.strides(0), kept_axes_);
    plan_->views.clear();
    Dims shape(kept_loop.extents(), kept_axes_);
    for (int axis = 0; axis <= outer_axes_; ++axis) shape.push_back(reduced_loop.extent(axis));
    for (int operand = 0; operand < static_cast<int>(elements_.size()); ++operand) {
      Dims strides(kept_loop.strides(operand + 1), kept_axes_);
      for (int axis = 0; axis <= outer_axes_; ++axis) strides.push_back(reduced_loop.stride(operand, axis));
      plan_->views.push_back({shape, std::move(strides), reduced_loop.offset(operand)});
    }
    return true;
  }

  /// Whether an input's lines are contiguous, one after the other.
  bool is_flat(size_t element) const {
    const Dims& strides = plan_->views[element].strides;
    const int64_t itemsize = elements_[element].itemsize();
    return kept_axes_ == 1 && outer_axes_ == 0 && strides[0] == itemsize && strides[1] == itemsize * inner_;
  }
  /// Whether all inputs that are not the same in each line are. Such an input is gathered, which is faster than other
  /// ways where a line is shorter than a vector.
  bool reads_contiguous_lines() const {
    bool some = false;
    for (size_t k = 0; k < elements_.size(); ++k) {
      const Dims& strides = plan_->views[k].strides;
      const bool is_same = strides.back() == 0 && (inner_ < planning_.fewest_columns || strides[kept_axes_ - 1] == 0);
      some |= is_flat(k);
      if (!is_flat(k) && !is_same) return false;
    }
    return some;
  }

  /// Whether neighbours of most inputs belong to different outputs.
  bool wants_columns() const {
    if (inner_ < planning_.fewest_columns)
      return inner_ > 1 && n_ >= planning_.fewest_lines && reads_contiguous_lines();
    if (n_ <= 1) return true;
    int votes = 0;
    for (size_t k = 0; k < elements_.size(); ++k) {
      const Dims& strides = plan_->views[k].strides;
      const int64_t across = std::abs(strides[kept_axes_ - 1]), along = std::abs(strides.back());
      const int64_t itemsize = elements_[k].itemsize();
      if (across != 0 && along != 0) votes += across < along ? 1 : -1;
      if ((across == 0) != (along == 0)) votes += across == itemsize ? 1 : along == itemsize ? -1 : 0;
    }
    return votes > 0;
  }

  Reach reach_of(size_t element, bool by_columns, bool has_lanes) const {
    if (by_columns && has_lanes && is_flat(element)) return Reach::flat;
    const Dims& strides = plan_->views[element].strides;
    const int64_t stride = by_columns ? strides[kept_axes_ - 1] : strides.back();
    const int64_t itemsize = elements_[element].itemsize();
    return stride == itemsize       ? Reach::dense
           : stride == 0            ? Reach::same
           : stride == 2 * itemsize ? Reach::second
           : stride == 3 * itemsize ? Reach::third
           : stride == 4 * itemsize ? Reach::fourth
                                    : Reach::strided;
  }

  /// Whether a CPU walks by columns along another axis than the outputs' last one, because inputs lie along it.
  bool sort_columns() {
    if (plan_->is_copied || !planning_.sorts_columns || kept_.size() < 2 || plan_->length == 0) return false;
    merge(false, true);
    const bool is_sorted = !std::ranges::is_sorted(plan_->steps, std::greater());
    if (is_sorted && wants_columns() && planning_.map(work_of(true)).passes > 0) return true;
    merge(false, false);
    return false;
  }

  ReductionWork work_of(bool by_columns) const {
    ReductionWork work;
    // A call without outputs launches nothing, but its texts may be asked for.
    work.outputs = std::max<int64_t>(count(kept_), 1);
    work.inner = std::max<int64_t>(inner_, 1);
    work.n = n_;
    work.outer = n_ > 0 ? plan_->length / n_ : 1;
    work.by_columns = by_columns;
    work.is_flat = by_columns && reads_contiguous_lines();
    work.bytes = partial_bytes(texts_, types_);
    return work;
  }

  void plan_stages() {
    ReductionStage stage;
    stage.by_columns = plan_->length > 0 && wants_columns();
    stage.kept_axes = kept_axes_;
    stage.outer_axes = outer_axes_;
    stage.is_sorted = is_sorted_;
    if (!texts_.options.reduce_dims) {
      stage.index_axes = plan_->index_shape.size();
      stage.result_axes = plan_->result.size();
    }
    ReductionWork work = work_of(stage.by_columns);
    ReductionSizes sizes = planning_.map(work);
    size_t element = 0;
    for (size_t k = 0; k < texts_.inputs.size(); ++k)
      stage.reach.push_back(is_element(k)                      ? reach_of(element++, stage.by_columns, sizes.lanes > 1)
                            : !texts_.inputs[k].has_elements() ? Reach::raw
                                                               : Reach::scalar);
    for (const Parameter& output : texts_.outputs) stage.reach.push_back(output.raw ? Reach::raw : Reach::output);
    stage.in_warps = sizes.in_warps;
    // What is left of each output: by columns, the partial results of each lane are joined before those of all lanes.
    int64_t parts = sizes.partials(), lanes = 1;
    if (stage.by_columns && !stage.in_warps) parts = sizes.parts(), lanes = sizes.lanes;
    const int64_t outputs = work.outputs;
    while (true) {
      stage.finishes = parts * lanes == 1;
      sizes.elements = plan_->length;
      add_stage(stage, sizes, work.bytes);
      if (stage.finishes) return;
      stage.joins = true;
      stage.is_sorted = false;
      stage.kept_axes = 1;
      stage.outer_axes = 0;
      if (parts == 1) parts = std::exchange(lanes, 1);
      work = {.outputs = outputs * lanes, .n = parts, .by_columns = stage.by_columns, .bytes = work.bytes};
      work.inner = work.outputs;
      sizes = planning_.join(work);
      parts = sizes.partials();
    }
  }

  void add_stage(ReductionStage& stage, const ReductionSizes& sizes, int64_t bytes) {
    stage.in_passes = sizes.passes > 0;
    stage.has_column_lanes = stage.by_columns && sizes.lanes > 1;
    stage.lanes = stage.by_columns ? 1 : static_cast<int>(sizes.lanes);
    jit::StageCall strips;
    if (stage.in_passes) {
      strips.slice = strips.batch = sizes.width;
      strips.has_scratch = true;
      strips.words = (bytes + itemsize(Dtype::uint64) - 1) / itemsize(Dtype::uint64);
    }
    plan_->stages.push_back({&state_.stages.find(texts_, stage, types_), stage, sizes, std::move(strips)});
  }

  ReductionKernel::State& state_;
  const ReductionTexts& texts_;
  const std::span<const Argument> arguments_;
  const std::span<const Array> elements_;
  const Dtype* types_;
  const ReductionPlanning& planning_;
  std::shared_ptr<ReductionPlan> plan_ = std::make_shared<ReductionPlan>();
  Dims kept_, reduced_;  ///< extents
  int kept_axes_ = 1, outer_axes_ = 0;
  bool is_sorted_ = false;
  int64_t inner_ = 1, n_ = 1;
};

}  // namespace

size_t PlanKey::hash() const {
  uint64_t hash = size_;
  for (size_t k = 0; k < size_; ++k) hash = (hash ^ static_cast<uint64_t>(numbers_[k])) * 0x9E3779B97F4A7C15;
  return static_cast<size_t>(hash >> 32);
}

bool operator==(const PlanKey& a, const PlanKey& b) {
  return a.size_ == b.size_ && std::memcmp(a.numbers_, b.numbers_, a.size_ * sizeof(int64_t)) == 0;
}

ElementwiseKernel::State& StageKernels::find(const ReductionTexts& texts, const ReductionStage& stage,
                                             const Dtype* types) {
  std::string key = stage.key();
  for (size_t k = 0; k < texts.parameter_count(); ++k) key += static_cast<char>('A' + static_cast<int>(types[k]));
  {
    std::lock_guard lock(stage_mutex);
    if (const auto found = entries_.find(key); found != entries_.end()) return *found->second.kernel;
  }
  const std::vector<Dtype> dtypes(types, types + texts.parameter_count());
  Entry made{reduction_stage_kernel(texts, stage, dtypes), {}, 0};
  for (size_t k = 0; k < dtypes.size(); ++k)
    if (stage.reach[k] != Reach::scalar) made.array_dtypes.push_back(dtypes[k]);
  std::lock_guard lock(stage_mutex);
  made.number = entries_.size();
  return *entries_.emplace(std::move(key), std::move(made)).first->second.kernel;
}

std::vector<GeneratedSource> StageKernels::generated_sources() const {
  std::vector<Entry> entries;
  {
    std::lock_guard lock(stage_mutex);
    for (const auto& [key, entry] : entries_) entries.push_back(entry);
  }
  std::ranges::sort(entries, {}, &Entry::number);
  std::vector<GeneratedSource> sources;
  for (const Entry& entry : entries)
    for (GeneratedSource& source : jit::generated_sources(*entry.kernel))
      sources.push_back({entry.array_dtypes, std::move(source.text)});
  return sources;
}

std::shared_ptr<const ReductionPlan> StageKernels::find_plan(const PlanKey& key) const {
  std::shared_ptr<const ReductionPlan> plan;
  {
    std::lock_guard lock(stage_mutex);
    plan = plans_[key.hash() % plans_.size()];
  }
  return plan && plan->key == key ? plan : nullptr;
}

void StageKernels::keep_plan(std::shared_ptr<const ReductionPlan> plan) {
  std::shared_ptr<const ReductionPlan>& place = plans_[plan->key.hash() % plans_.size()];
  std::lock_guard lock(stage_mutex);
  place.swap(plan);  // the plan that was there is destroyed after the lock is released
}

ReductionCall::ReductionCall(ReductionKernel::State& state, std::span<const Argument> arguments,
                             const ReductionAxes& axes)
    : state_(state), texts_(state.texts), arguments_(arguments) {
  jit::check_arguments(state.front, arguments);
  device_ = &jit::resolve_device(state.front, arguments);
  if (axes.stream) {
    jit::check_stream(state.front, *axes.stream, *device_);
    stream_.emplace(*axes.stream);
  }
  jit::resolve_types(state.front, state.placeholders, arguments, types_);
  take_elements();
  find_plan(axes);
  make_outputs();
  if (plan_->length == 0 && !texts_.identity)
    throw ValueError("zero-size array to reduction operation " + texts_.name + " which has no identity");
}

std::vector<Array> ReductionCall::run() {
  if (count(plan_->result) > 0)
    for_each_stage([&](ElementwiseKernel::State& kernel, jit::KernelCall& call) {
      call.run();
      state_.warnings.add(kernel.warnings.take());
    });
  return std::move(outputs_);
}

/// An input that shares memory with a given output is copied.
void ReductionCall::take_elements() {
  elements_.reserve(input_count());
  for (size_t k = 0; k < input_count(); ++k) {
    if (!is_element(k)) continue;
    elements_.push_back(arguments_[k].array());
    for (size_t out = input_count(); out < arguments_.size(); ++out) {
      const Array& output = arguments_[out].array();
      if (!elements_.back().may_overlap(output) || overlap(elements_.back(), output) == Overlap::none) continue;
      elements_.back() = elements_.back().copy();
      break;
    }
  }
}

void ReductionCall::find_plan(const ReductionAxes& axes) {
  PlanKey key;
  key.add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(device_)));
  key.add(axes.keepdims);
  if (axes.axes)
    key.add(*axes.axes);
  else
    key.add(-1);
  for (size_t k = 0; k < texts_.parameter_count(); ++k) {
    const bool is_scalar = k < input_count() && !arguments_[k].is_array();
    key.add(2 * static_cast<int64_t>(types_[k]) + is_scalar);
  }
  for (const Array& element : elements_) {
    key.add(element.shape());
    for (const int64_t stride : element.strides()) key.add(stride);
  }
  if (!key.overflows()) plan_ = state_.stages.find_plan(key);
  if (plan_) return;
  plan_ = Planner(state_, arguments_, elements_, types_, *device_).make(key, axes);
  if (!key.overflows()) state_.stages.keep_plan(plan_);
}

void ReductionCall::make_outputs() {
  outputs_.reserve(texts_.outputs.size());
  for (size_t k = input_count(); k < texts_.parameter_count(); ++k) {
    if (arguments_.size() == input_count()) {
      outputs_.push_back(Array::empty(plan_->result, types_[k], *device_));
      continue;
    }
    const Array& given = arguments_[k].array();
    if (!given.writable()) given.check_writable(jit::parameter_prefix(state_.front, k) + "the array");
    if (!texts_.parameter(k).raw && !(given.shape() == plan_->result))
      throw ShapeError(jit::parameter_prefix(state_.front, k) + "the array has shape " + to_string(given.shape()) +
                       ", but the result has shape " + to_string(plan_->result));
    outputs_.push_back(given);
  }
}

void ReductionCall::make_views() {
  for (size_t k = 0; k < elements_.size(); ++k) {
    Array& element = elements_[k];
    if (plan_->is_copied) element = element.broadcast_to(plan_->shape).transpose(plan_->order).contiguous();
    const ReductionPlan::View& view = plan_->views[k];
    element = Array(element.buffer(), element.dtype(), view.shape, view.strides, element.offset() + view.offset);
  }
}

/// Memory for the results that a stage leaves, as rows of as many words as neighbouring units share.
Array ReductionCall::partial_results(const ReductionPlan::Stage& each) const {
  const ReductionSizes& sizes = each.sizes;
  const int64_t words = each.stage.lanes;
  const int64_t bytes = sizes.partials() * sizes.outputs * partial_bytes(texts_, types_);
  const int64_t row = words * itemsize(Dtype::uint64);
  return Array::empty({(bytes + row - 1) / row, words}, Dtype::uint64, *device_);
}

void ReductionCall::list_arguments(std::vector<Argument>& list, const ReductionPlan::Stage& each, const Array& from,
                                   const Array& to) const {
  list.clear();
  list.reserve(texts_.parameter_count() + 12);
  size_t element = 0;
  for (size_t k = 0; k < input_count(); ++k) {
    if (is_element(k))
      list.emplace_back(elements_[element++]);
    else
      list.push_back(arguments_[k]);
  }
  for (const Array& output : outputs_) list.emplace_back(output);
  if (each.stage.joins) list.emplace_back(from);
  if (!each.stage.finishes) list.emplace_back(to);
  const auto add = [&](int64_t number) { list.emplace_back(Scalar(number).typed(Dtype::int64)); };
  for_each_size(each.stage, [&](const char*, int64_t ReductionSizes::* size) { add(each.sizes.*size); });
  if (each.stage.index_axes > 0)
    for (const int64_t extent : plan_->index_shape) add(extent);
  if (each.stage.result_axes > 0)
    for (const int64_t extent : plan_->result) add(extent);
  if (each.stage.is_sorted)
    for (const int64_t step : plan_->steps) add(step);
  if (each.stage.in_passes) list.emplace_back(Scalar(0).typed(Dtype::uint64));
}

}  // namespace iruka::ops
