#include "jit/staged_call.h"

#include <algorithm>

#include "core/device.h"
#include "core/layout.h"
#include "core/thread_pool.h"

namespace iruka::jit {
namespace {

/// Elements of a batch of small slices: enough for long loops, and few enough to stay in a core's first-level cache.
/// On a GPU a block has one element or more for each of its threads.
constexpr int64_t kBatchOfRange = 1024, kBatchOfBlock = 512;
/// Slices of more elements are worth a launch of each stage over all of them, if they are fewer than what can run at
/// the same time.
constexpr int64_t kShortOfRange = 1024, kShortOfBlock = 4096;
/// The memory of a batch's intermediate arrays: in a core's second-level cache, or the shared memory that every GPU's
/// block has, but for a module's own variables.
constexpr int64_t kMostRangeBytes = 1 << 20, kMostBlockBytes = 47 << 10;

bool repeats(const StageText& stage) { return stage.count_parameter || stage.count > 1; }

}  // namespace

StagedCall::StagedCall(StagedKernel::State& kernel, std::span<const Argument> arguments,
                       const StagedCallOptions& options)
    : kernel_(kernel), arguments_(arguments) {
  check_arguments(kernel.front, arguments);
  device_ = &resolve_device(kernel.front, arguments);
  if (options.stream) {
    check_stream(kernel.front, *options.stream, *device_);
    stream_.emplace(*options.stream);
  }
  resolve_types(kernel.typed, kernel.placeholders, arguments, types_);
  shape_ = resolve_shape(kernel.front, arguments, options.size);
  find_counts();
  find_slices(options.axis ? options.axis : kernel.options.axis);
  make_outputs();
  copy_overlapping_inputs();
  choose_slices();
  // The stages' kernels are given outputs, whose shape says how many elements there are.
  const auto is_plain = [&](size_t k) {
    return kernel.front.parameter(k).has_elements() && (k >= input_count() || arguments[k].is_array());
  };
  bool has_plain = false;
  for (size_t k = 0; k < kernel.front.parameter_count(); ++k) has_plain = has_plain || is_plain(k);
  if (!has_plain) options_.size = options.size;
}

std::string StagedCall::prefix(const StageText& stage) const {
  return "kernel '" + kernel_.front.name + "': " + stage.file + ": ";
}

void StagedCall::find_counts() {
  for (const StageText& stage : kernel_.texts()) {
    int64_t count = stage.count;
    if (stage.count_parameter) {
      const Argument& given = arguments_[*stage.count_parameter];
      const std::string what = "its count '" + kernel_.front.inputs[*stage.count_parameter].name + "' ";
      if (given.is_array()) throw TypeError(prefix(stage) + what + "must be a scalar, not an array");
      const Scalar& value = given.scalar();
      count = value.as_int64();
      if (count < 0 || (value.kind() == Kind::floating && !(value.as_double() >= 0)))
        throw ValueError(prefix(stage) + what +
                         (value.as_double() > 0 ? "must be less than 2^63, not " : "must not be negative, not ") +
                         value.to_string());
    }
    counts_.push_back(count);
  }
}

void StagedCall::find_slices(const std::optional<Dims>& axes) {
  const int ndim = shape_.size();
  std::vector<bool> is_inside(static_cast<size_t>(ndim), !axes);
  for (const int64_t named : axes.value_or(Dims())) {
    if (ndim == 0 && (named == 0 || named == -1)) continue;  // as in reductions: a scalar has an axis
    const auto axis = static_cast<size_t>(normalize_axis(kernel_.front.name.c_str(), named, ndim));
    if (is_inside[axis])
      throw IndexError(kernel_.front.name + ": duplicate value in 'axis': " + iruka::to_string(*axes));
    is_inside[axis] = true;
  }
  bool last = !axes;  // of the group before
  for (int axis = 0; axis < ndim; ++axis) {
    const bool inside = is_inside[static_cast<size_t>(axis)];
    const int64_t extent = shape_[axis];
    if (inside) stages_.slice *= extent;
    if (extent == 1) continue;
    if (stages_.groups.empty()) stages_.begins_inside = inside;
    if (!stages_.groups.empty() && inside == last)
      stages_.groups[stages_.groups.size() - 1] *= extent;
    else
      stages_.groups.push_back(extent);
    last = inside;
  }
  if (!stages_.groups.empty()) return;
  stages_.groups.push_back(1);
  stages_.begins_inside = true;
}

/// Whether the elements of a slice are neighbours in C order, and slices follow each other.
bool StagedCall::are_slices_inner() const {
  return stages_.groups.size() == 1 || (stages_.groups.size() == 2 && !stages_.begins_inside);
}

/// The bytes of a batch's intermediate arrays.
int64_t StagedCall::slice_bytes() const {
  constexpr int64_t kLine = 64;
  int64_t bytes = 0;
  for (size_t k = 0; k < intermediate_count(); ++k)
    if (kernel_.together->text.mentions(input_count() + k))
      bytes += (stages_.batch * itemsize(intermediate_type(k)) + kLine - 1) / kLine * kLine;
  return bytes;
}

void StagedCall::choose_slices() {
  const bool has_grid = device_->service<LaunchPolicy>().has_grid;
  const int64_t count = iruka::count(shape_), slice = std::max<int64_t>(stages_.slice, 1), slices = count / slice;
  const int64_t workers = has_grid ? device_->target().multiprocessors : thread_count();
  in_slices_ = are_slices_inner() && (slice <= (has_grid ? kShortOfBlock : kShortOfRange) || slices >= workers);
  if (!in_slices_) return;
  int64_t together = std::max<int64_t>((has_grid ? kBatchOfBlock : kBatchOfRange) / slice, 1);
  if (has_grid) together = std::clamp<int64_t>(slices / (2 * workers), 1, together);  // blocks for all multiprocessors
  stages_.slice = slice;
  stages_.batch = slice * together;
  stages_.has_scratch = slice_bytes() <= (has_grid ? kMostBlockBytes : kMostRangeBytes);
}

void StagedCall::make_outputs() {
  for (size_t k = input_count(); k < kernel_.front.parameter_count(); ++k)
    outputs_.push_back(k < arguments_.size() ? arguments_[k].array() : Array::empty(shape_, types_[k], *device_));
}

/// Whether a stage reads the input's elements when another, or itself with another element, may have changed them.
bool StagedCall::must_copy(size_t in, size_t out) const {
  const Array &input = arguments_[in].array(), &output = arguments_[out].array();
  if (!input.may_overlap(output)) return false;
  const Overlap shared = overlap(input, output);
  if (shared != Overlap::identical) return shared == Overlap::partial;
  const std::vector<StageText>& texts = kernel_.texts();
  size_t first_write = texts.size(), last_read = 0;
  for (size_t s = texts.size(); s-- > 0;)
    if (texts[s].uses[place_of(out)]) first_write = s;
  for (size_t s = 0; s < texts.size(); ++s)
    if (texts[s].uses[in]) last_read = s;
  if (last_read != first_write) return last_read > first_write;
  return repeats(texts[last_read]) || kernel_.front.parameter(out).raw;
}

// As in ElementwiseKernel, plain inputs are read with their values from before the call, in every stage.
void StagedCall::copy_overlapping_inputs() {
  copies_.resize(input_count());
  for (size_t in = 0; in < input_count() && arguments_.size() > input_count(); ++in) {
    if (!arguments_[in].is_array() || !kernel_.front.parameter(in).has_elements() || kernel_.front.is_stored(in))
      continue;
    for (size_t out = input_count(); out < arguments_.size() && !copies_[in].valid(); ++out)
      if (must_copy(in, out)) copies_[in] = arguments_[in].array().copy();
  }
}

void StagedCall::make_arguments() {
  list_.reserve(kernel_.typed.parameter_count());
  between_.reserve(intermediate_count());
  for (size_t k = 0; k < input_count(); ++k) list_.push_back(copies_[k].valid() ? Argument(copies_[k]) : arguments_[k]);
  for (size_t k = 0; k < intermediate_count(); ++k) {
    const Dtype dtype = intermediate_type(k);
    if (stages_.has_scratch || !kernel_.together->text.mentions(input_count() + k)) {
      list_.emplace_back(Scalar(0).typed(dtype));
    } else {
      between_.push_back(Array::empty(shape_, dtype, *device_));
      list_.emplace_back(between_.back());
    }
  }
  for (const Array& output : outputs_) list_.emplace_back(output);
}

std::vector<Array> StagedCall::run() {
  make_arguments();
  const auto launch = [&](ElementwiseKernel::State& kernel) {
    KernelCall(kernel, list_, options_, &stages_).run();
    kernel_.take_warnings(kernel);
  };
  if (iruka::count(shape_) == 0) return std::move(outputs_);
  if (in_slices_) {
    launch(*kernel_.together);
  } else {
    const LoopSequence sequence;
    for (size_t s = 0; s < kernel_.apart.size(); ++s)
      for (stages_.step = 0; stages_.step < counts_[s]; ++stages_.step) {
        if (stages_.step > 0 && should_stop()) throw_if_stopped();
        launch(*kernel_.apart[s]);
      }
  }
  return std::move(outputs_);
}

}  // namespace iruka::jit
