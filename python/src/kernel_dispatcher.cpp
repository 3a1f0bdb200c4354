// The base class of vectorized Python functions: a call whose arguments have the dtypes of a kernel goes straight to
// it. Everything else is the work of the Python class: casts, new kernels, lists, arrays on several devices.
#include "kernel_dispatcher.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cuda.h"
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

/// A call of vectorize's functions.
class DirectCall : DispatchedCall {
 public:
  DirectCall(const KernelDispatcher& dispatcher, PyObject* positional) : DispatchedCall(dispatcher, positional) {}

  /// The result; null where the call is the work of the Python class.
  PyObject* result() {
    if (!find() || !take_inputs() || !take_output()) return nullptr;
    const ElementwiseKernel& kernel = found_->kernel;
    std::vector<Array> outputs;
    {
      GilRelease release;
      if (gives_output_)
        kernel.fill(arguments_.span());
      else
        outputs = kernel.call(arguments_.span());
    }
    emit_warnings(kernel.pop_warnings());
    if (has_failed()) return nullptr;  // the class finds out what the function raises
    return gives_output_ ? Py_NewRef(given(nin())) : delivered(std::move(outputs));
  }

 private:
  size_t nin() const { return dispatcher_.kernels.front().dtypes.size(); }

  /// False where no kernel is for these arguments. One more than its inputs is the output.
  bool find() {
    if (dispatcher_.kernels.empty()) return false;
    gives_output_ = count() == nin() + 1;
    if ((count() != nin() && !gives_output_) || nin() > kMost) return false;
    return read_types(nin()) && adapt_numbers() && find_kernel(nin());
  }

  /// Gives numbers the dtype of the arrays. False where there is not one dtype, or a number has no place in it.
  bool adapt_numbers() {
    const TypedArgument* array = nullptr;
    bool is_one = true, has_numbers = false;
    const std::span operands(operands_, nin());
    for (const TypedArgument& each : operands) {
      has_numbers |= each.kind == TypedArgument::Kind::number;
      if (each.kind == TypedArgument::Kind::number) continue;
      is_one &= !array || array->dtype == each.dtype;
      array = &each;
    }
    if (!array) return false;
    if (!has_numbers || !dispatcher_.has_signatures) return true;
    for (TypedArgument& each : operands) {
      if (each.kind != TypedArgument::Kind::number) continue;
      if (!is_one || !has_place(each.number, array->dtype)) return false;
      each.dtype = array->dtype;
    }
    return true;
  }

  bool take_inputs() {
    if (gives_output_ && found_->reports_failure) return false;  // the inputs may be written before it is known
    bool has_axes = false;
    for (size_t k = 0; k < nin(); k++) {
      if (operands_[k].kind == TypedArgument::Kind::number) {
        arguments_.add(operands_[k].number);
        continue;
      }
      const Array* array = take_array(given(k));
      if (!array) return false;
      has_axes |= array->ndim() > 0;
      arguments_.add(*array);
    }
    add_failure();
    return has_axes || !is_all_numpy_;  // NumPy's functions of arrays without axes return scalars
  }

  /// The output is written in place where it has the dtype and shape of the result.
  bool take_output() {
    if (!gives_output_) return true;
    const std::optional<TypedArgument> output = typed_argument(given(nin()));
    const Parameter& parameter = found_->kernel.out_params().front();
    if (!output || output->kind == TypedArgument::Kind::number || output->dtype != parameter.dtype) return false;
    const Array* array = found_->kernel.nout() == 1 ? take_array(given(nin())) : nullptr;
    if (!array || !array->writable() || &array->device() != device_) return false;
    for (const Array& input : arrays_.span())
      if (input.ndim() > 0 && input.shape() != array->shape()) return false;
    arguments_.add(*array);
    return true;
  }

  bool gives_output_ = false;
};

/// The arguments with the array of out= behind the inputs, if there is no other keyword; else nothing.
nb::object with_output(const KernelDispatcher& dispatcher, PyObject* positional, PyObject* keywords) {
  if (PyDict_GET_SIZE(keywords) != 1 || dispatcher.core || dispatcher.kernels.empty()) return {};
  const size_t nin = dispatcher.kernels.front().dtypes.size();
  PyObject* out = PyDict_GetItemString(keywords, "out");
  if (!out || out == Py_None || PyTuple_Check(out) || static_cast<size_t>(PyTuple_GET_SIZE(positional)) != nin)
    return {};
  nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(nin + 1)));
  if (!all.is_valid()) throw nb::python_error();
  for (size_t k = 0; k < nin; k++)
    PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(k),
                     Py_NewRef(PyTuple_GET_ITEM(positional, static_cast<Py_ssize_t>(k))));
  PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(nin), Py_NewRef(out));
  return all;
}

PyObject* call_dispatcher(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const KernelDispatcher& dispatcher = instance_of<KernelDispatcher>(self);
    const bool has_keywords = keywords && PyDict_GET_SIZE(keywords) > 0;
    const nb::object all = has_keywords ? with_output(dispatcher, positional, keywords) : nb::borrow(positional);
    if (all.is_valid()) {
      PyObject* result =
          dispatcher.core ? call_generalized(dispatcher, all.ptr()) : DirectCall(dispatcher, all.ptr()).result();
      if (result) return result;
    }
    const nb::object method = nb::getattr(self, "call");
    return PyObject_Call(method.ptr(), positional, keywords);
  });
}

void add_kernel(KernelDispatcher& self, const std::vector<nb::object>& dtypes, const ElementwiseKernel& kernel,
                bool on_host, bool takes_numpy, bool reports_failure) {
  std::vector<Dtype> all;
  all.reserve(dtypes.size());
  for (const nb::object& dtype : dtypes) all.push_back(to_dtype(dtype));
  self.kernels.push_back({std::move(all), kernel, on_host, takes_numpy, reports_failure});
}

/// Pairs of inputs and outputs by names of axes, as parse_layout gives them.
CoreAxes core_axes_of(nb::handle layout) {
  CoreAxes core{};
  std::map<std::string, int> numbers;
  for (nb::handle side : layout) {
    for (nb::handle names : side) {
      std::vector<int>& axes = core.arguments.emplace_back();
      for (nb::handle name : names)
        axes.push_back(numbers.try_emplace(text_of(name), static_cast<int>(numbers.size())).first->second);
    }
    if (core.nin == 0) core.nin = core.arguments.size();
  }
  core.count = numbers.size();
  return core;
}

const PyType_Slot kSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_dispatcher)}, {0, nullptr}};

}  // namespace

bool DispatchedCall::read_types(size_t count) {
  for (size_t k = 0; k < count; k++) {
    const std::optional<TypedArgument> operand = typed_argument(given(k));
    if (!operand) return false;
    operands_[k] = *operand;
  }
  return true;
}

bool DispatchedCall::find_kernel(size_t count) {
  for (const DispatchedKernel& each : dispatcher_.kernels) {
    const bool fits = std::equal(operands_, operands_ + count, each.dtypes.begin(),
                                 [](const TypedArgument& operand, Dtype dtype) { return operand.dtype == dtype; });
    if (fits && is_for_device(each, count)) return found_ = &each, true;
  }
  return false;
}

bool DispatchedCall::is_for_device(const DispatchedKernel& kernel, size_t count) {
  device_ = nullptr;
  bool has_numpy = false;
  for (size_t k = 0; k < count; k++) {
    has_numpy |= operands_[k].kind == TypedArgument::Kind::numpy;
    if (operands_[k].kind != TypedArgument::Kind::array) continue;
    Device& device = array_of(given(k)).device();
    if (device_ && device_ != &device) return false;
    device_ = &device;
  }
  is_all_numpy_ = !device_;
  if (!device_) device_ = &cpu();
  if (has_numpy && (!is_host(*device_) || !kernel.takes_numpy)) return false;
  return kernel.on_host == is_host(*device_);
}

const Array* DispatchedCall::take_array(PyObject* object) {
  if (Py_TYPE(object) == array_type) return &arrays_.add(array_of(object));
  std::optional<Array> shared = shared_with_numpy(object);
  return shared ? &arrays_.add(*std::move(shared)) : nullptr;
}

void DispatchedCall::add_failure() {
  if (!found_->reports_failure) return;
  failure_.emplace(filled({1}, kNotFailed, Dtype::int64, *device_));
  arguments_.add(*failure_);
}

bool DispatchedCall::has_failed() const {
  return failure_ && *static_cast<const int64_t*>(failure_->data()) != kNotFailed;
}

PyObject* DispatchedCall::delivered(Array output) const {
  return is_all_numpy_ ? numpy_array_over(std::move(output)).release().ptr() : wrap(std::move(output));
}

PyObject* DispatchedCall::delivered(std::vector<Array> outputs) const {
  if (outputs.size() == 1) return delivered(std::move(outputs[0]));
  nb::list results;
  for (Array& output : outputs) results.append(nb::steal(delivered(std::move(output))));
  return nb::tuple(results).release().ptr();
}

void bind_kernel_dispatcher(nb::module_& module) {
  nb::class_<KernelDispatcher>(module, "KernelDispatcher", nb::type_slots(kSlots),
                               "Calls the kernel for the arguments' dtypes, else the method `call` of a derived class.")
      .def(
          "__init__",
          [](KernelDispatcher* self, bool has_signatures, nb::handle layout) {
            new (self) KernelDispatcher{.has_signatures = has_signatures};
            if (!layout.is_none()) self->core = core_axes_of(layout);
          },
          nb::arg("has_signatures"), nb::arg("layout") = nb::none())
      .def("add_kernel", add_kernel, nb::arg("dtypes"), nb::arg("kernel"), nb::arg("on_host"), nb::arg("takes_numpy"),
           nb::arg("reports_failure"),
           "From here on, calls with arrays of these dtypes go straight to the kernel.\n\n"
           "One that reports failures takes an int64 array of one element behind the inputs, for the least number of\n"
           "an element that failed; then the method `call` is called.");
}

}  // namespace iruka::python
