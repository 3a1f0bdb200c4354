#include "dispatched_call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "cuda.h"
#include "gil.h"
#include "interop.h"
#include "iruka/device.h"
#include "kernel.h"
#include "numpy_arrays.h"

namespace iruka::python {

namespace {

int rank(Dtype dtype) {
  switch (kind(dtype)) {
    case Kind::boolean: return 0;
    case Kind::signed_integer:
    case Kind::unsigned_integer: return 1;
    case Kind::floating: return 2;
    case Kind::complex: break;
  }
  return 3;
}

/// Whether a Python number is cast to this dtype without an error or a warning, and rounded once.
bool has_place(const Scalar& number, Dtype dtype) {
  if (number.dtype() == dtype) return true;
  if (rank(number.dtype()) > rank(dtype) || number.dtype() == Dtype::uint64) return false;
  if (number.dtype() == Dtype::bool_) return true;
  switch (dtype) {
    case Dtype::float64:
    case Dtype::complex128:
    case Dtype::float32:
      if (kind(number.dtype()) == Kind::signed_integer) return std::abs(number.as_double()) < 0x1p53;
      return dtype != Dtype::float32 || std::isinf(number.as_double()) ||
             !(std::abs(number.as_double()) > std::numeric_limits<float>::max());
    case Dtype::float16:
    case Dtype::bfloat16:
    case Dtype::complex64: return false;
    default: break;
  }
  const int64_t value = number.as_int64();
  const int bits = 8 * static_cast<int>(itemsize(dtype));
  if (kind(dtype) == Kind::unsigned_integer) return value >= 0 && (bits == 64 || value >> bits == 0);
  return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1);
}

/// A number of Python's own types, of NumPy's, or nothing.
std::optional<Scalar> number_of(PyObject* object) {
  if (PyFloat_CheckExact(object)) return Scalar(PyFloat_AS_DOUBLE(object));
  if (!PyLong_CheckExact(object) && !PyBool_Check(object) && !PyComplex_CheckExact(object)) return numpy_scalar(object);
  Scalar number;
  if (is_huge_integer(object) || !to_scalar(object, number)) return {};
  return number;
}

bool is_same_layout(const jit::Operand& a, const jit::Operand& b) {
  return a.data == b.data && a.ndim == b.ndim && itemsize(a.dtype) == itemsize(b.dtype) &&
         std::equal(a.shape, a.shape + a.ndim, b.shape) && std::equal(a.strides, a.strides + a.ndim, b.strides);
}

bool has_shape(const jit::Operand& array, const Dims& shape) {
  return array.ndim == shape.size() && std::equal(shape.begin(), shape.end(), array.shape);
}

}  // namespace

PyObject* DispatchedCall::result() {
  if (nin() > kMostInputs || given_.outputs.size() > kMostOutputs) return nullptr;
  if (!read_inputs() || !find_kernel() || !convert_inputs() || !match_shapes() || !take_outputs() || !widen_inputs())
    return nullptr;
  keep_values_of_outputs();
  launch();
  if (first_failed_ == kNotFailed) return delivered();
  bring_back_outputs();
  return nullptr;  // the class finds out what the function raises
}

/// Reads an array of NumPy, or one of Iruka on the device of the others.
bool DispatchedCall::read_array(PyObject* object, jit::Operand& operand) {
  if (Py_TYPE(object) == imported.ndarray) {
    const std::optional<jit::Operand> numpy = numpy_operand(object);
    if (!numpy) return false;
    has_numpy_ = true;
    operand = *numpy;
    return true;
  }
  if (Py_TYPE(object) != array_type) return false;
  const Array& array = array_of(object);
  if (device_ && device_ != &array.device()) return false;
  device_ = &array.device();
  operand = jit::Operand(array);
  return true;
}

bool DispatchedCall::read_inputs() {
  for (size_t k = 0; k < nin(); ++k) {
    if (read_array(given_.inputs[k], operands_[k])) continue;
    const std::optional<Scalar> number = number_of(given_.inputs[k]);
    if (!number) return false;
    operands_[k] = jit::Operand(numbers_.add(*number), number->dtype());
  }
  gives_numpy_ = !device_;
  if (!device_) device_ = &cpu();
  return true;
}

/// Where the dtypes are given and all arrays have one, Python's numbers that have a place there take it.
InputTypes DispatchedCall::input_types() const {
  const std::span operands(operands_, nin());
  const auto is_weak = [](const jit::Operand& each) { return !each.is_array() && each.scalar->weak(); };
  const jit::Operand* strong = nullptr;
  bool is_one = dispatcher_.has_signatures;
  for (const jit::Operand& each : operands) {
    if (is_weak(each)) continue;
    is_one &= !strong || strong->dtype == each.dtype;
    strong = &each;
  }
  InputTypes types;
  for (const jit::Operand& each : operands) {
    if (!is_weak(each))
      types.add(each.dtype);
    else if (is_one && strong && has_place(*each.scalar, strong->dtype))
      types.add(strong->dtype);
    else
      types.add_number(each.dtype);
  }
  return types;
}

bool DispatchedCall::is_for(const DispatchedKernel& kernel) const {
  const bool takes_numpy = kernel.takes_numpy && is_host(*device_);
  return kernel.on_host == is_host(*device_) && (takes_numpy || !(has_numpy_ || gives_numpy_));
}

bool DispatchedCall::find_kernel() {
  const InputTypes types = input_types();
  for (const DispatchedKernel& each : dispatcher_.kernels) {
    if (each.types != types || !is_for(each)) continue;
    found_ = &each;
    if (nout() > kMostOutputs || (!given_.outputs.empty() && given_.outputs.size() != nout())) return false;
    if (given_.outputs.empty()) return !is_generalized() || dispatcher_.has_signatures;
    const auto dtype_of = [](PyObject* object) -> std::optional<Dtype> {
      if (Py_TYPE(object) == imported.ndarray) return native_numpy_dtype(object);
      return Py_TYPE(object) == array_type ? std::optional(array_of(object).dtype()) : std::nullopt;
    };
    if (std::equal(given_.outputs.begin(), given_.outputs.end(), each.dtypes.begin() + static_cast<ptrdiff_t>(nin()),
                   [&](PyObject* object, Dtype dtype) { return dtype_of(object) == dtype; }))
      return true;
  }
  return false;
}

/// Before this thread gives the GIL away. Meanwhile another thread may give an array other memory or another shape;
/// this call goes on with those that it has read. NumPy's arrays keep their memory while they live.
void DispatchedCall::hold_memory() {
  for (; held_ < nin() + read_outputs_; ++held_) {
    const bool is_input = held_ < nin();
    PyObject* const object = is_input ? given_.inputs[held_] : given_.outputs[held_ - nin()];
    jit::Operand& operand = is_input ? operands_[held_] : output(held_ - nin());
    if (Py_TYPE(object) == array_type) buffers_.add(array_of(object).buffer());
    HeldShape& held = shapes_.add();
    if (!operand.is_array()) continue;
    held = {Dims(operand.shape, operand.ndim), Dims(operand.strides, operand.ndim)};
    operand.shape = held.shape.data();
    operand.strides = held.strides.data();
  }
}

/// Casts inputs to the kernel's dtypes. Numbers become elements in memory for kernels of core axes, and where all are
/// numbers, so that the program of arrays serves them.
bool DispatchedCall::convert_inputs() {
  bool has_axes = false;
  for (size_t k = 0; k < nin(); ++k) has_axes |= operands_[k].ndim > 0;
  for (size_t k = 0; k < nin(); ++k) {
    jit::Operand& operand = operands_[k];
    const Dtype dtype = found_->dtypes[k];
    if (operand.is_array()) {
      if (operand.dtype != dtype && !replace_by_copy(k)) return false;
      operand.writable = false;  // a raw parameter is const where its array is, as in calls by the Python class
      continue;
    }
    const Scalar& number = *operand.scalar;
    if (number.weak() && !has_place(number, dtype)) return false;
    operand.dtype = dtype;
    if (!is_generalized() && has_axes) continue;
    if (is_host(*device_)) {
      number.store(dtype, elements_[k].bytes);
      operand = jit::Operand(elements_[k].bytes, dtype);
    } else {
      hold_memory();
      operand = jit::Operand(arrays_.add(filled({}, number, dtype, *device_)));
    }
    operand.writable = false;
  }
  return true;
}

/// An array in the dtype of the kernel, in memory of its own. False where another thread has changed the shape.
bool DispatchedCall::replace_by_copy(size_t k) {
  jit::Operand& operand = operands_[k];
  PyObject* const object = given_.inputs[k];
  const Dtype dtype = found_->dtypes[k];
  const bool is_numpy = Py_TYPE(object) == imported.ndarray;
  if (is_numpy && operand.nbytes() <= kSmallBytes) {
    operand = *numpy_operand(objects_.add(numpy_copy(object, dtype)).ptr());
  } else {
    hold_memory();
    const Dims shape(operand.shape, operand.ndim);
    const Array array = is_numpy ? *shared_with_numpy(object) : array_of(object);
    if (!(array.shape() == shape)) return false;
    operand = jit::Operand(arrays_.add(without_gil([&] { return array.astype(dtype); })));
  }
  operand.writable = false;
  return true;
}

std::span<const int> DispatchedCall::core_axes(size_t k) const {
  return is_generalized() ? std::span<const int>(dispatcher_.core->arguments[k]) : std::span<const int>();
}

/// Finds the extents of the core axes, and the shape of the loop over the others. False where they do not fit.
bool DispatchedCall::match_shapes() {
  if (is_generalized()) {
    if (dispatcher_.core->extents.size() > kMostAxes) return false;
    std::ranges::copy(dispatcher_.core->extents, extents_);
  }
  int ndim = 0;
  for (size_t k = 0; k < nin(); ++k) {
    const std::span<const int> axes = core_axes(k);
    const int outer = operands_[k].ndim - static_cast<int>(axes.size());
    if (outer < 0) return false;
    ndim = std::max(ndim, outer);
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const int64_t own = operands_[k].shape[outer + static_cast<int>(axis)];
      int64_t& extent = extents_[axes[axis]];
      if (own > kLongestCoreAxis || (extent >= 0 && extent != own)) return false;
      extent = own;
    }
  }
  loop_ = Dims(ndim, 1);
  for (size_t k = 0; k < nin(); ++k) {
    const int outer = operands_[k].ndim - static_cast<int>(core_axes(k).size());
    for (int axis = 0; axis < outer; ++axis) {
      int64_t& extent = loop_[ndim - outer + axis];
      const int64_t own = operands_[k].shape[axis];
      if (own != 1 && extent != 1 && own != extent) return false;
      if (own != 1) extent = own;
    }
  }
  return true;
}

/// The loop's axes, then the argument's core axes.
Dims DispatchedCall::full_shape(size_t k) const {
  const std::span<const int> axes = core_axes(k);
  Dims shape(loop_.size() + static_cast<int>(axes.size()));
  std::ranges::copy(loop_, shape.begin());
  for (size_t axis = 0; axis < axes.size(); ++axis) shape[loop_.size() + static_cast<int>(axis)] = extents_[axes[axis]];
  return shape;
}

/// Gives the inputs of a kernel of core axes, which are raw arrays, the shape of the loop.
bool DispatchedCall::widen_inputs() {
  for (size_t k = 0; is_generalized() && k < nin(); ++k) {
    jit::Operand& operand = operands_[k];
    const Dims shape = full_shape(k);
    if (has_shape(operand, shape)) continue;
    if (shape.size() > kMostWideRank) return false;
    auto& [wide_shape, wide_strides] = wide_[k];
    const int added = shape.size() - operand.ndim;
    operand.size = 1;
    for (int axis = 0; axis < shape.size(); ++axis) {
      const bool is_own = axis >= added && operand.shape[axis - added] == shape[axis];
      wide_shape[axis] = shape[axis];
      wide_strides[axis] = is_own ? operand.strides[axis - added] : 0;
      operand.size *= shape[axis];
    }
    operand.shape = wide_shape;
    operand.strides = wide_strides;
    operand.ndim = shape.size();
  }
  return true;
}

/// Given outputs are written in place where they have the shape of the result and share no memory but that of an input
/// which is read element by element with them.
bool DispatchedCall::take_outputs() {
  if (given_.outputs.empty()) return make_outputs();
  for (size_t k = 0; k < nout(); ++k) {
    jit::Operand& taken = output(k);
    Device* const device = device_;
    if (!read_array(given_.outputs[k], taken) || device_ != device || !is_for(*found_)) return false;
    read_outputs_ = k + 1;
    if (!taken.writable || !has_shape(taken, full_shape(nin() + k))) return false;
    for (size_t other = 0; other < k; ++other)
      if (output(other).may_overlap(taken)) return false;
    if (!separate_inputs_from(taken)) return false;
  }
  return true;
}

/// As in NumPy, an input that overlaps an output is read with its values from before the call.
bool DispatchedCall::separate_inputs_from(const jit::Operand& output) {
  for (size_t k = 0; k < nin(); ++k) {
    const jit::Operand& input = operands_[k];
    if (!input.is_array() || !input.may_overlap(output)) continue;
    if (found_->reports_failure) return false;  // the inputs are needed to find out what the function raises
    if (is_generalized() || !is_same_layout(input, output) || !output.is_c_contiguous())
      if (!replace_by_copy(k)) return false;
  }
  return true;
}

bool DispatchedCall::make_outputs() {
  for (size_t k = 0; k < nout(); ++k) {
    const Dtype dtype = found_->dtypes[nin() + k];
    if (gives_numpy_ && dtype == Dtype::bfloat16) return false;
    const Dims shape = full_shape(nin() + k);
    made_arrays_[k] = nullptr;
    made_objects_[k] = nullptr;
    if (gives_numpy_ && shape.empty()) {
      output(k) = jit::Operand(elements_[nin() + k].bytes, dtype);
    } else if (gives_numpy_ && count(shape) * itemsize(dtype) <= kSmallBytes) {
      made_objects_[k] = &objects_.add(empty_numpy_array(shape, dtype));
      output(k) = *numpy_operand(made_objects_[k]->ptr());
    } else {
      const auto make = [&] { return Array::empty(shape, dtype, *device_); };
      if (!is_host(*device_)) hold_memory();
      made_arrays_[k] = &arrays_.add(is_host(*device_) ? make() : without_gil(make));
      output(k) = jit::Operand(*made_arrays_[k]);
    }
  }
  return true;
}

/// A generalized function may read the outputs that it is given, and runs once more where it raises.
void DispatchedCall::keep_values_of_outputs() {
  if (!is_generalized() || !found_->reports_failure) return;
  size_t used = 0;
  for (size_t k = 0; k < given_.outputs.size(); ++k) {
    const jit::Operand& target = output(k);
    const auto bytes = static_cast<size_t>(target.nbytes());
    const bool is_brief = is_host(*device_) && target.is_c_contiguous() && bytes <= sizeof(kept_) - used;
    before_.add(is_brief ? nb::object() : nb::handle(given_.outputs[k]).attr("copy")());
    if (!is_brief) continue;
    std::memcpy(kept_ + used, target.data, bytes);
    used += bytes;
  }
}

void DispatchedCall::bring_back_outputs() {
  const auto before = before_.span();
  size_t used = 0;
  for (size_t k = 0; k < before.size(); ++k) {
    if (before[k].is_valid()) {
      if (PyObject_SetItem(given_.outputs[k], Py_Ellipsis, before[k].ptr()) < 0) throw nb::python_error();
      continue;
    }
    const auto bytes = static_cast<size_t>(output(k).nbytes());
    std::memcpy(output(k).data, kept_ + used, bytes);
    used += bytes;
  }
}

void DispatchedCall::launch() {
  static constexpr int64_t kOne = 1, kStride = sizeof(int64_t);
  int64_t steps = 1;
  for (const int64_t extent : loop_) steps *= extent;
  if (steps == 0) return;
  if (found_->reports_failure) {
    jit::Operand& failure = operands_[failure_place()];
    failure = jit::Operand(&first_failed_, Dtype::int64);
    failure.shape = &kOne;
    failure.strides = &kStride;
    failure.ndim = 1;
  }
  const size_t operands = nin() + found_->reports_failure + nout();
  const Dims flat{steps};
  jit::KernelLaunch launch(ElementwiseKernel::State::of(found_->kernel), *device_, is_generalized() ? flat : loop_,
                           {operands_, operands});
  launch.prepare();
  if (launch.is_brief()) {
    note_begin_of_call();
    const KeepsGil keeps(*this);
    launch.run();
  } else {
    hold_memory();
    const GilRelease release;
    launch.run();
  }
  emit_warnings(found_->kernel.pop_warnings());
}

PyObject* DispatchedCall::delivered(size_t k) {
  if (!given_.outputs.empty()) return Py_NewRef(given_.outputs[k]);
  if (made_objects_[k]) return made_objects_[k]->release().ptr();
  if (!made_arrays_[k]) return to_numpy_scalar(elements_[nin() + k].bytes, found_->dtypes[nin() + k]);
  Array& made = *made_arrays_[k];
  return gives_numpy_ ? numpy_array_over(std::move(made)).release().ptr() : wrap(std::move(made));
}

PyObject* DispatchedCall::delivered() {
  if (given_.returned) return Py_NewRef(given_.returned);
  if (nout() == 1) return delivered(0);
  nb::object results = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(nout())));
  if (!results.is_valid()) throw nb::python_error();
  for (size_t k = 0; k < nout(); ++k) PyTuple_SET_ITEM(results.ptr(), static_cast<Py_ssize_t>(k), delivered(k));
  return results.release().ptr();
}

}  // namespace iruka::python
