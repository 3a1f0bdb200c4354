// Calls of guvectorize's functions whose arguments have the dtypes of a kernel: the shapes are matched here, and the
// kernel runs over all axes but the core axes.
#include "interop.h"
#include "kernel.h"
#include "kernel_dispatcher.h"

namespace iruka::python {

namespace {

class GeneralizedCall : DispatchedCall {
 public:
  GeneralizedCall(const KernelDispatcher& dispatcher, PyObject* positional) : DispatchedCall(dispatcher, positional) {}

  /// The result; null where the call is the work of the Python class: numbers to cast, shapes that do not fit,
  /// outputs that share memory with inputs.
  PyObject* result() {
    if (!find() || !take_inputs() || !broadcast_inputs()) return nullptr;
    std::vector<Array> outputs;
    for (size_t k = nin(); k < core().arguments.size(); ++k) {
      std::optional<Array> output = output_for(k);
      if (!output) return nullptr;
      outputs.push_back(*std::move(output));
      arguments_.add(arrays_.add(outputs.back()));
    }
    if (is_all_numpy_ && std::ranges::any_of(outputs, [](const Array& each) { return each.ndim() == 0; }))
      return nullptr;  // NumPy's functions return scalars
    launch();
    if (has_failed()) return nullptr;  // the class finds out what the function raises
    return gives_outputs_ ? PyTuple_GetSlice(positional_, static_cast<Py_ssize_t>(nin()), PyTuple_GET_SIZE(positional_))
                          : delivered(std::move(outputs));
  }

 private:
  const CoreAxes& core() const { return *dispatcher_.core; }
  size_t nin() const { return core().nin; }
  static int ndim_of(const std::vector<int>& axes) { return static_cast<int>(axes.size()); }

  bool find() {
    gives_outputs_ = count() == core().arguments.size();
    if ((!gives_outputs_ && count() != nin()) || core().arguments.size() > kMost || core().count > kMostAxes)
      return false;
    if (!gives_outputs_ && !dispatcher_.has_signatures) return false;
    if (!read_types(count())) return false;
    for (size_t k = nin(); k < count(); ++k)
      if (operands_[k].kind == TypedArgument::Kind::number) return false;
    return find_kernel(count());
  }

  bool take_inputs() {
    for (size_t k = 0; k < nin(); ++k) {
      if (operands_[k].kind == TypedArgument::Kind::number)
        inputs_[k] = &arrays_.add(filled({}, operands_[k].number, operands_[k].dtype, *device_));
      else
        inputs_[k] = take_array(given(k));
      if (!inputs_[k]) return false;
    }
    return true;
  }

  /// Finds the extents of the core axes, and the shape of the loop over the others. False where they do not fit.
  bool match_shapes() {
    std::ranges::fill(extents_, -1);
    int ndim = 0;
    for (size_t k = 0; k < nin(); ++k) {
      const std::vector<int>& axes = core().arguments[k];
      const int outer = inputs_[k]->ndim() - ndim_of(axes);
      if (outer < 0) return false;
      ndim = std::max(ndim, outer);
      for (int axis = 0; axis < ndim_of(axes); ++axis) {
        int64_t& extent = extents_[axes[static_cast<size_t>(axis)]];
        const int64_t own = inputs_[k]->shape(outer + axis);
        if (extent >= 0 && extent != own) return false;
        extent = own;
      }
    }
    loop_ = Dims(ndim, 1);
    for (size_t k = 0; k < nin(); ++k) {
      const int outer = inputs_[k]->ndim() - ndim_of(core().arguments[k]);
      for (int axis = 0; axis < outer; ++axis) {
        int64_t& extent = loop_[ndim - outer + axis];
        const int64_t own = inputs_[k]->shape(axis);
        if (own != 1 && extent != 1 && own != extent) return false;
        if (own != 1) extent = own;
      }
    }
    return true;
  }

  bool broadcast_inputs() {
    if (!match_shapes()) return false;
    for (size_t k = 0; k < nin(); ++k) {
      const Array& input = *inputs_[k];
      const int added = loop_.size() + ndim_of(core().arguments[k]) - input.ndim();
      Dims shape = full_shape(k);
      if (shape.size() > kMaxRank) return false;
      Dims strides(shape.size());
      for (int axis = added; axis < shape.size(); ++axis)
        if (input.shape(axis - added) == shape[axis]) strides[axis] = input.strides()[axis - added];
      arguments_.add(wide_.add(input.view(input.dtype(), std::move(shape), std::move(strides), input.offset())));
    }
    return true;
  }

  /// The loop's axes, then the argument's core axes.
  Dims full_shape(size_t k) const {
    const std::vector<int>& axes = core().arguments[k];
    Dims shape(loop_.size() + ndim_of(axes));
    std::ranges::copy(loop_, shape.begin());
    for (int axis = 0; axis < ndim_of(axes); ++axis)
      shape[loop_.size() + axis] = extents_[axes[static_cast<size_t>(axis)]];
    return shape;
  }

  /// A new output, or a given one that the kernel may write itself.
  std::optional<Array> output_for(size_t k) {
    const Dims shape = full_shape(k);
    if (!gives_outputs_) return Array::empty(shape, found_->dtypes[k], *device_);
    const Array* output = take_array(given(k));
    if (!output || !output->writable() || output->shape() != shape || &output->device() != device_) return {};
    for (const Array& other : arrays_.span())
      if (&other != output && other.may_overlap(*output)) return {};
    return *output;
  }

  void launch() {
    int64_t steps = 1;
    for (const int64_t extent : loop_) steps *= extent;
    if (steps == 0) return;
    add_failure();
    {
      GilRelease release;
      found_->kernel.call(arguments_.span(), {.size = steps});
    }
    emit_warnings(found_->kernel.pop_warnings());
  }

  static constexpr size_t kMostAxes = 8;

  bool gives_outputs_ = false;
  const Array* inputs_[kMost] = {};
  FixedList<Array, kMost> wide_{kMost};
  int64_t extents_[kMostAxes];
  Dims loop_;
};

}  // namespace

PyObject* call_generalized(const KernelDispatcher& dispatcher, PyObject* positional) {
  if (dispatcher.kernels.empty()) return nullptr;
  return GeneralizedCall(dispatcher, positional).result();
}

}  // namespace iruka::python
