// Calls of a ReductionKernel: axes sorted and merged, a plan, its stages launched one after the other.
#include "iruka/reduction_kernel.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "core/device.h"
#include "core/fork.h"
#include "core/layout.h"
#include "jit/grammar.h"
#include "jit/includes.h"
#include "jit/program.h"
#include "jit/resolve.h"
#include "jit/warnings.h"
#include "ops/reduce/reduction_kernel_plan.h"
#include "ops/reduce/reduction_kernel_text.h"

namespace iruka {

struct ReductionKernel::State {
  ops::ReductionTexts texts;
  jit::KernelText front;  ///< name and parameters, as calls are checked by them
  jit::Placeholders placeholders;
  bool sees_order = false;                          ///< whether a text uses an element's index
  std::map<std::string, ElementwiseKernel> stages;  ///< by all that their texts depend on; see stage_mutex
  jit::PendingWarnings warnings;                    ///< of all stages
};

namespace ops {
namespace {

constexpr const char* kKind = "ReductionKernel";

constinit ForkSafeMutex stage_mutex;  ///< one for all kernels, as fork() holds it

const ElementwiseKernel& stage_kernel(ReductionKernel::State& state, const ReductionStage& stage,
                                      const std::vector<Dtype>& types) {
  std::string key = stage.key();
  for (const Dtype type : types) key += static_cast<char>('A' + static_cast<int>(type));
  {
    std::lock_guard lock(stage_mutex);
    if (const auto found = state.stages.find(key); found != state.stages.end()) return found->second;
  }
  ElementwiseKernel made = reduction_stage_kernel(state.texts, stage, types);
  std::lock_guard lock(stage_mutex);
  return state.stages.emplace(std::move(key), std::move(made)).first->second;
}

/// The size of a partial result; the maximum for a type that only the compiler knows.
int64_t partial_bytes(const ReductionTexts& texts, const std::vector<Dtype>& types) {
  if (texts.options.reduce_type.empty()) return itemsize(types[texts.inputs.size()]);
  const std::string type = reduce_type_of(texts);
  for (int dtype = 0; dtype < kDtypeCount; ++dtype)
    if (type == info(static_cast<Dtype>(dtype)).c_type) return itemsize(static_cast<Dtype>(dtype));
  return kMostReductionBytes;
}

class Call {
 public:
  Call(ReductionKernel::State& state, std::span<const Argument> arguments, const ReductionAxes& axes)
      : state_(state), texts_(state.texts), arguments_(arguments), types_(texts_.parameter_count()) {
    jit::check_arguments(state.front, arguments);
    device_ = &jit::resolve_device(state.front, arguments);
    jit::resolve_types(state.front, state.placeholders, arguments, types_.data());
    resolve_shape();
    resolve_axes(axes);
    make_outputs();
  }

  std::vector<Array> run() {
    if (length_ == 0 && !texts_.identity)
      throw ValueError("zero-size array to reduction operation " + texts_.name + " which has no identity");
    if (outputs_.front().size() == 0) return outputs_;
    arrange();
    launch_all();
    return outputs_;
  }

 private:
  size_t input_count() const { return texts_.inputs.size(); }
  bool is_element(size_t k) const { return arguments_[k].is_array() && !texts_.inputs[k].raw; }
  const ReductionPlanning& planning() const { return device_->service<ReductionPlanning>(); }

  void resolve_shape() {
    std::vector<const Dims*> shapes;
    bool has_raw = false;
    for (size_t k = 0; k < input_count(); ++k) {
      if (is_element(k)) shapes.push_back(&arguments_[k].array().shape());
      has_raw |= texts_.inputs[k].raw;
    }
    if (shapes.empty())
      throw ValueError("kernel '" + texts_.name + "': there is no shape to reduce: " +
                       (has_raw ? "every array is raw" : "no argument is an array"));
    try {
      shape_ = broadcast_shapes(shapes);
    } catch (const ShapeError&) {
      std::string list;
      for (size_t k = 0; k < input_count(); ++k)
        if (is_element(k))
          list += (list.empty() ? "" : ", ") + texts_.inputs[k].name + " " + to_string(arguments_[k].array().shape());
      throw ShapeError("kernel '" + texts_.name + "': the arrays do not broadcast together: " + list);
    }
  }

  void resolve_axes(const ReductionAxes& axes) {
    const int ndim = shape_.size();
    reduced_.assign(static_cast<size_t>(ndim), !axes.axes);
    for (const int64_t named : axes.axes.value_or(Dims())) {
      if (ndim == 0 && (named == 0 || named == -1)) continue;  // as NumPy: a scalar has an axis to reduce
      const auto axis = static_cast<size_t>(normalize_axis(texts_.name.c_str(), named, ndim));
      if (reduced_[axis]) throw IndexError(texts_.name + ": duplicate value in 'axis': " + to_string(*axes.axes));
      reduced_[axis] = true;
    }
    for (int axis = 0; axis < ndim; ++axis) {
      const bool goes = reduced_[static_cast<size_t>(axis)];
      (goes ? reduced_shape_ : kept_shape_).push_back(shape_[axis]);
      if (!goes || axes.keepdims) result_.push_back(goes ? 1 : shape_[axis]);
    }
    length_ = count(reduced_shape_);
  }

  void make_outputs() {
    for (size_t k = input_count(); k < texts_.parameter_count(); ++k) {
      if (arguments_.size() == input_count()) {
        outputs_.push_back(Array::empty(result_, types_[k], *device_));
        continue;
      }
      const Array& given = arguments_[k].array();
      if (!given.writable()) given.check_writable(jit::parameter_prefix(state_.front, k) + "the array");
      if (!texts_.parameter(k).raw && !(given.shape() == result_))
        throw ShapeError(jit::parameter_prefix(state_.front, k) + "the array has shape " + to_string(given.shape()) +
                         ", but the result has shape " + to_string(result_));
      outputs_.push_back(given);
    }
  }

  /// The input over the whole shape, kept axes first. One that shares memory with a given output is copied.
  Array element_input(size_t k) const {
    Array input = arguments_[k].array();
    for (size_t out = input_count(); out < arguments_.size(); ++out)
      if (input.may_overlap(arguments_[out].array()) && overlap(input, arguments_[out].array()) != Overlap::none) {
        input = input.copy();
        break;
      }
    Dims order;
    for (const bool goes : {false, true})
      for (int axis = 0; axis < shape_.size(); ++axis)
        if (reduced_[static_cast<size_t>(axis)] == goes) order.push_back(axis);
    return input.broadcast_to(shape_).transpose(order);
  }

  // Inputs as arrays of few axes: kept ones, then reduced ones, the innermost last.
  void arrange() {
    std::vector<Array> inputs;
    for (size_t k = 0; k < input_count(); ++k)
      if (is_element(k)) inputs.push_back(element_input(k));
    if (!merge(inputs)) {
      for (Array& input : inputs) input = input.contiguous();
      merge(inputs);
    }
  }

  /// False if the innermost reduced axis is too short for a loop and other reduced axes exist.
  bool merge(const std::vector<Array>& inputs) {
    constexpr int64_t kShortest = 16;
    const int kept = kept_shape_.size(), reduced = reduced_shape_.size();
    std::vector<Dims> kept_strides, reduced_strides;
    for (const Array& input : inputs) {
      kept_strides.emplace_back(input.strides().begin(), kept);
      reduced_strides.emplace_back(input.strides().begin() + kept, reduced);
    }
    std::vector<LoopOperand> kept_operands, reduced_operands;
    for (size_t k = 0; k < inputs.size(); ++k) {
      kept_operands.push_back({&kept_shape_, &kept_strides[k]});
      reduced_operands.push_back({&reduced_shape_, &reduced_strides[k]});
    }
    LoopLayout kept_loop(kept_shape_, kept_operands), reduced_loop(reduced_shape_, reduced_operands);
    kept_loop.merge_axes();
    if (!state_.sees_order && reduced_loop.rank() > 1 && !inputs.empty()) reduced_loop.reorder_axes(0);
    reduced_loop.merge_axes();
    kept_axes_ = kept_loop.rank();
    outer_axes_ = reduced_loop.rank() - 1;
    if (outer_axes_ > 0 && reduced_loop.extent(outer_axes_) < kShortest && !is_copied_) {
      is_copied_ = true;
      return false;
    }
    Dims shape(kept_loop.extents(), kept_axes_);
    for (int axis = 0; axis <= outer_axes_; ++axis) shape.push_back(reduced_loop.extent(axis));
    views_.clear();
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int operand = static_cast<int>(k);
      Dims strides(kept_loop.strides(operand), kept_axes_);
      for (int axis = 0; axis <= outer_axes_; ++axis) strides.push_back(reduced_loop.stride(operand, axis));
      views_.emplace_back(inputs[k].buffer(), inputs[k].dtype(), shape, strides,
                          inputs[k].offset() + reduced_loop.offset(operand));
    }
    inner_ = kept_loop.extent(kept_axes_ - 1);
    n_ = reduced_loop.extent(outer_axes_);
    return true;
  }

  /// Whether neighbours of most inputs belong to different outputs.
  bool wants_columns() const {
    if (inner_ < planning().fewest_columns) return false;
    if (n_ <= 1) return true;
    int votes = 0;
    for (const Array& view : views_) {
      const int64_t across = std::abs(view.strides()[kept_axes_ - 1]), along = std::abs(view.strides().back());
      if (across != 0 && along != 0) votes += across < along ? 1 : -1;
      if ((across == 0) != (along == 0)) votes += across == view.itemsize() ? 1 : along == view.itemsize() ? -1 : 0;
    }
    return votes > 0;
  }

  Reach reach_of(size_t k, const Array& view, bool by_columns) const {
    if (texts_.parameter(k).raw) return Reach::raw;
    const int64_t stride = by_columns ? view.strides()[kept_axes_ - 1] : view.strides().back();
    return stride == view.itemsize() ? Reach::dense : stride == 0 ? Reach::same : Reach::strided;
  }

  void launch_all() {
    ReductionStage stage;
    stage.by_columns = length_ > 0 && wants_columns();
    stage.kept_axes = kept_axes_;
    stage.outer_axes = outer_axes_;
    size_t view = 0;
    for (size_t k = 0; k < input_count(); ++k)
      stage.reach.push_back(is_element(k)          ? reach_of(k, views_[view++], stage.by_columns)
                            : texts_.inputs[k].raw ? Reach::raw
                                                   : Reach::scalar);
    for (const Parameter& output : texts_.outputs) stage.reach.push_back(output.raw ? Reach::raw : Reach::output);
    const int64_t outputs = count(kept_shape_), outer = n_ > 0 ? length_ / n_ : 1;
    ReductionSizes sizes = planning().map(outputs, inner_, n_, outer, stage.by_columns);
    stage.in_warps = sizes.in_warps;
    Array from, to;
    while (true) {
      const int64_t left = sizes.partials();
      stage.lanes = sizes.lanes;
      stage.finishes = left == 1;
      if (!stage.finishes) to = partial_results(left * outputs, sizes.lanes);
      launch(stage, sizes, from, to);
      if (stage.finishes) return;
      from = std::exchange(to, Array());
      stage.joins = true;
      stage.kept_axes = 1;
      stage.outer_axes = 0;
      sizes = planning().join(outputs, left, stage.by_columns);
    }
  }

  /// Memory for results, as rows of as many words as there are lanes.
  Array partial_results(int64_t results, int lanes) const {
    const int64_t row = lanes * itemsize(Dtype::uint64);
    return Array::empty({(results * partial_bytes(texts_, types_) + row - 1) / row, lanes}, Dtype::uint64, *device_);
  }

  void launch(const ReductionStage& stage, const ReductionSizes& sizes, const Array& from, const Array& to) {
    std::vector<Argument> list;
    size_t view = 0;
    for (size_t k = 0; k < input_count(); ++k) {
      if (is_element(k))
        list.emplace_back(views_[view++]);
      else
        list.push_back(arguments_[k]);
    }
    for (const Array& output : outputs_) list.emplace_back(output);
    if (stage.joins) list.emplace_back(from);
    if (!stage.finishes) list.emplace_back(to);
    for (const int64_t value : {sizes.outputs, sizes.inner, sizes.n, sizes.blocks, sizes.length, sizes.outer,
                                sizes.groups, sizes.group_length, length_})
      list.emplace_back(Scalar(value).typed(Dtype::int64));
    const ElementwiseKernel& kernel = stage_kernel(state_, stage, types_);
    kernel.fill(list, {.size = sizes.units()});
    state_.warnings.add(kernel.pop_warnings());
  }

  ReductionKernel::State& state_;
  const ReductionTexts& texts_;
  std::span<const Argument> arguments_;
  std::vector<Dtype> types_;
  Device* device_ = nullptr;
  Dims shape_, kept_shape_, reduced_shape_, result_;
  std::vector<bool> reduced_;
  int64_t length_ = 1;  ///< elements of each output
  std::vector<Array> outputs_, views_;
  int kept_axes_ = 1, outer_axes_ = 0;
  int64_t inner_ = 1, n_ = 1;
  bool is_copied_ = false;
};

void check_parameters(const ReductionTexts& texts) {
  static constexpr const char* kTaken[] = {"_i", "_j", "_J", "_in_ind", "_out_ind", "_type_reduce", "a", "b"};
  const auto fail = [&](const Parameter& parameter, const std::string& rule) {
    throw ValueError(std::string(kKind) + " '" + texts.name + "': parameter '" + parameter.name + "': " + rule);
  };
  if (texts.outputs.empty())
    throw ValueError(std::string(kKind) + " '" + texts.name + "': at least one output is needed");
  for (size_t k = 0; k < texts.parameter_count(); ++k) {
    const Parameter& parameter = texts.parameter(k);
    if (std::ranges::find(kTaken, parameter.name) != std::end(kTaken) || parameter.name.starts_with("_reduce_"))
      fail(parameter, "the name '" + parameter.name + "' is reserved in reductions");
    if (k < texts.inputs.size() && !parameter.raw && !parameter.is_const)
      fail(parameter, "only a raw input can be _non_const, because a reduction does not write to elements");
  }
}

/// Whether a text may depend on the order in which elements are reduced.
bool can_see_order(const ReductionTexts& texts) {
  const auto names_place = [](const std::string& text) {
    return std::ranges::any_of(std::initializer_list<const char*>{"_J", "_j", "i", "_in_ind"},
                               [&](const char* word) { return jit::mentions(text, word); });
  };
  const ReductionKernelOptions& options = texts.options;
  const auto hides_place = [&](const std::string& text) {
    return text.find("define") != std::string::npos && names_place(text);
  };
  return names_place(texts.map_expr) || hides_place(options.preamble) ||
         (texts.includes &&
          std::ranges::any_of(texts.includes->originals, [&](const auto& header) { return hides_place(*header); })) ||
         std::ranges::any_of(options.options, names_place);
}

/// Reports invalid C++ when the kernel is made, if all types are concrete.
void diagnose(ReductionKernel::State& state) {
  ReductionStage stage;
  stage.finishes = true;
  std::vector<Dtype> types;
  for (size_t k = 0; k < state.texts.parameter_count(); ++k) {
    const Parameter& parameter = state.texts.parameter(k);
    types.push_back(*parameter.dtype);
    stage.reach.push_back(parameter.raw ? Reach::raw : k < state.texts.inputs.size() ? Reach::strided : Reach::output);
  }
  state.warnings.add(reduction_stage_kernel(state.texts, stage, types, /*diagnose_early=*/true).pop_warnings());
}

}  // namespace
}  // namespace ops

ReductionKernel::ReductionKernel(std::string in_params, std::string out_params, std::string map_expr,
                                 std::string reduce_expr, std::string post_map_expr,
                                 std::optional<std::string> identity, std::string name, ReductionKernelOptions options,
                                 std::source_location where)
    : state_(std::make_shared<State>()) {
  jit::check_kernel_name(name, ops::kKind);
  ops::ReductionTexts& texts = state_->texts;
  texts.inputs = jit::parse_parameters(name, in_params, false, ops::kKind);
  texts.outputs = jit::parse_parameters(name, out_params, true, ops::kKind);
  jit::check_names_differ(name, texts.inputs, texts.outputs, ops::kKind);
  texts.name = std::move(name);
  texts.map_expr = std::move(map_expr);
  texts.reduce_expr = std::move(reduce_expr);
  texts.post_map_expr = std::move(post_map_expr);
  texts.identity = std::move(identity);
  texts.options = std::move(options);
  if (texts.options.made_at.empty())
    texts.options.made_at = std::string(where.file_name()) + ":" + std::to_string(where.line());
  ops::check_parameters(texts);
  const std::string* const sources[] = {&texts.map_expr, &texts.reduce_expr, &texts.post_map_expr,
                                        &texts.options.preamble};
  texts.includes = jit::read_includes(sources, texts.options.options);
  state_->front.name = texts.name;
  state_->front.inputs = texts.inputs;
  state_->front.outputs = texts.outputs;
  state_->placeholders = jit::placeholders_of(state_->front);
  state_->sees_order = ops::can_see_order(texts);
  if (state_->placeholders.count == 0) ops::diagnose(*state_);
}

std::vector<Array> ReductionKernel::call(std::span<const Argument> arguments, const ReductionAxes& axes) const {
  return ops::Call(*state_, arguments, axes).run();
}

std::vector<std::string> ReductionKernel::pop_warnings() const { return state_->warnings.take(); }

const std::string& ReductionKernel::name() const { return state_->texts.name; }
const std::string& ReductionKernel::map_expr() const { return state_->texts.map_expr; }
const std::string& ReductionKernel::reduce_expr() const { return state_->texts.reduce_expr; }
const std::string& ReductionKernel::post_map_expr() const { return state_->texts.post_map_expr; }
const std::optional<std::string>& ReductionKernel::identity() const { return state_->texts.identity; }
const ReductionKernelOptions& ReductionKernel::options() const { return state_->texts.options; }
std::span<const Parameter> ReductionKernel::in_params() const { return state_->texts.inputs; }
std::span<const Parameter> ReductionKernel::out_params() const { return state_->texts.outputs; }

std::string ReductionKernel::to_string() const {
  std::string text = "ReductionKernel " + name() + "(";
  for (size_t k = 0; k < state_->texts.parameter_count(); ++k) {
    const Parameter& parameter = state_->texts.parameter(k);
    text += k == state_->texts.inputs.size() ? ") -> (" : k > 0 ? ", " : "";
    text += (parameter.raw ? "raw " : "") + parameter.type + " " + parameter.name;
  }
  return text + ")";
}

}  // namespace iruka
