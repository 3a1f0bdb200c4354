// The base class of vectorized Python functions: a call whose arguments have the dtypes of a kernel goes straight to
// it. Everything else is the work of the Python class: casts, new kernels, lists, arrays on several devices.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "convert.h"
#include "cuda.h"
#include "fixed_list.h"
#include "interop.h"
#include "iruka/device.h"
#include "kernel.h"
#include "numpy_arrays.h"

namespace iruka::python {

namespace {

/// A kernel for arrays of these dtypes. NumPy's arrays stay on the host, so that only some kernels take them.
struct DispatchedKernel {
  std::vector<Dtype> inputs;
  ElementwiseKernel kernel;
  bool on_host, takes_numpy;
};

/// Kernels are added and never removed, so that one in use stays where it is.
struct KernelDispatcher {
  bool numbers_adapt;  ///< Python's numbers take the dtype of the arrays, as in NumPy
  std::deque<DispatchedKernel> kernels{};
};

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

/// One argument, as far as it is known without reading it.
struct Given {
  enum class Kind : uint8_t { numpy, array, number } kind;
  Dtype dtype;
  Scalar number{};
};

std::optional<Given> operand_of(PyObject* object) {
  if (Py_TYPE(object) == imported.ndarray) {
    const std::optional<Dtype> dtype = native_numpy_dtype(object);
    if (!dtype || *dtype == Dtype::bfloat16) return {};
    return Given{Given::Kind::numpy, *dtype};
  }
  if (Py_TYPE(object) == array_type) return Given{Given::Kind::array, array_of(object).dtype()};
  if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object) && !PyBool_Check(object) &&
      !PyComplex_CheckExact(object))
    return {};
  Scalar number;
  if (is_huge_integer(object) || !to_scalar(object, number)) return {};
  return Given{Given::Kind::number, number.dtype(), number};
}

/// The arguments of a call that needs no Python.
class DirectCall {
 public:
  DirectCall(const KernelDispatcher& dispatcher, PyObject* positional)
      : dispatcher_(dispatcher),
        positional_(positional),
        arrays_(static_cast<size_t>(PyTuple_GET_SIZE(positional))),
        arguments_(static_cast<size_t>(PyTuple_GET_SIZE(positional))) {}

  /// The result; null where the call is the work of the Python class.
  PyObject* result() {
    if (!find_kernel() || !take_inputs() || !take_output()) return nullptr;
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
    if (gives_output_) return Py_NewRef(PyTuple_GET_ITEM(positional_, nin()));
    if (outputs.size() == 1) return delivered(std::move(outputs[0]));
    nb::list results;
    for (Array& output : outputs) results.append(nb::steal(delivered(std::move(output))));
    return nb::tuple(results).release().ptr();
  }

 private:
  Py_ssize_t nin() const { return static_cast<Py_ssize_t>(found_->inputs.size()); }

  /// False where no kernel is for these arguments. One more than its inputs is the output.
  bool find_kernel() {
    const Py_ssize_t count = PyTuple_GET_SIZE(positional_);
    if (dispatcher_.kernels.empty()) return false;
    const auto nin = static_cast<Py_ssize_t>(dispatcher_.kernels.front().inputs.size());
    gives_output_ = count == nin + 1;
    if ((count != nin && !gives_output_) || nin > kMost) return false;
    for (Py_ssize_t k = 0; k < nin; k++) {
      const std::optional<Given> operand = operand_of(PyTuple_GET_ITEM(positional_, k));
      if (!operand) return false;
      operands_[k] = *operand;
    }
    if (!adapt_numbers(nin)) return false;
    for (const DispatchedKernel& each : dispatcher_.kernels) {
      const bool fits = std::equal(each.inputs.begin(), each.inputs.end(), operands_,
                                   [](Dtype dtype, const Given& operand) { return dtype == operand.dtype; });
      if (fits && is_for_device(each)) return found_ = &each, true;
    }
    return false;
  }

  /// Gives numbers the dtype of the arrays. False where there is not one dtype, or a number has no place in it.
  bool adapt_numbers(Py_ssize_t nin) {
    const Given* array = nullptr;
    bool is_one = true, has_numbers = false;
    for (Given* each = operands_; each != operands_ + nin; each++) {
      has_numbers |= each->kind == Given::Kind::number;
      if (each->kind == Given::Kind::number) continue;
      is_one &= !array || array->dtype == each->dtype;
      array = each;
    }
    if (!array) return false;
    if (!has_numbers || !dispatcher_.numbers_adapt) return true;
    for (Given* each = operands_; each != operands_ + nin; each++) {
      if (each->kind != Given::Kind::number) continue;
      if (!is_one || !has_place(each->number, array->dtype)) return false;
      each->dtype = array->dtype;
    }
    return true;
  }

  /// Whether the arrays lie where the kernel runs. NumPy's lie on the host.
  bool is_for_device(const DispatchedKernel& kernel) {
    device_ = nullptr;
    bool has_numpy = false;
    for (size_t k = 0; k < kernel.inputs.size(); k++) {
      has_numpy |= operands_[k].kind == Given::Kind::numpy;
      if (operands_[k].kind != Given::Kind::array) continue;
      Device& device = array_of(PyTuple_GET_ITEM(positional_, static_cast<Py_ssize_t>(k))).device();
      if (device_ && device_ != &device) return false;
      device_ = &device;
    }
    is_all_numpy_ = !device_;
    if (!device_) device_ = &cpu();
    if (has_numpy && (!is_host(*device_) || !kernel.takes_numpy)) return false;
    return kernel.on_host == is_host(*device_);
  }

  bool take_inputs() {
    bool has_axes = false;
    for (Py_ssize_t k = 0; k < nin(); k++) {
      PyObject* object = PyTuple_GET_ITEM(positional_, k);
      if (operands_[k].kind == Given::Kind::number) {
        arguments_.add(operands_[k].number);
        continue;
      }
      if (!take_array(object)) return false;
      has_axes |= arrays_.span().back().ndim() > 0;
    }
    return has_axes || !is_all_numpy_;  // NumPy's functions of arrays without axes return scalars
  }

  /// The output is written in place where it has the dtype and shape of the result.
  bool take_output() {
    if (!gives_output_) return true;
    PyObject* object = PyTuple_GET_ITEM(positional_, nin());
    const std::optional<Given> output = operand_of(object);
    const Parameter& parameter = found_->kernel.out_params().front();
    if (!output || output->kind == Given::Kind::number || output->dtype != parameter.dtype) return false;
    if (found_->kernel.nout() != 1 || !take_array(object)) return false;
    const Array& array = arrays_.span().back();
    if (!array.writable() || &array.device() != device_) return false;
    for (const Array& input : arrays_.span())
      if (input.ndim() > 0 && input.shape() != array.shape()) return false;
    return true;
  }

  bool take_array(PyObject* object) {
    if (Py_TYPE(object) == array_type) {
      arguments_.add(arrays_.add(array_of(object)));
      return true;
    }
    std::optional<Array> shared = shared_with_numpy(object);
    if (!shared) return false;
    arguments_.add(arrays_.add(*std::move(shared)));
    return true;
  }

  PyObject* delivered(Array output) const {
    return is_all_numpy_ ? numpy_array_over(std::move(output)).release().ptr() : wrap(std::move(output));
  }

  static constexpr Py_ssize_t kMost = 8;

  const KernelDispatcher& dispatcher_;
  PyObject* positional_;
  const DispatchedKernel* found_ = nullptr;
  Device* device_ = nullptr;
  bool gives_output_ = false, is_all_numpy_ = false;
  Given operands_[kMost];
  FixedList<Array, kMost> arrays_;
  FixedList<Argument, kMost> arguments_;  ///< refer to arrays_
};

PyObject* call_dispatcher(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const KernelDispatcher& dispatcher = instance_of<KernelDispatcher>(self);
    if (!keywords || PyDict_GET_SIZE(keywords) == 0) {
      if (PyObject* result = DirectCall(dispatcher, positional).result()) return result;
    }
    const nb::object method = nb::getattr(self, "call");
    return PyObject_Call(method.ptr(), positional, keywords);
  });
}

void add_kernel(KernelDispatcher& self, const std::vector<nb::object>& dtypes, const ElementwiseKernel& kernel,
                bool on_host, bool takes_numpy) {
  std::vector<Dtype> inputs;
  inputs.reserve(dtypes.size());
  for (const nb::object& dtype : dtypes) inputs.push_back(to_dtype(dtype));
  self.kernels.push_back({std::move(inputs), kernel, on_host, takes_numpy});
}

const PyType_Slot kSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_dispatcher)}, {0, nullptr}};

}  // namespace

void bind_kernel_dispatcher(nb::module_& module) {
  nb::class_<KernelDispatcher>(module, "KernelDispatcher", nb::type_slots(kSlots),
                               "Calls the kernel for the arguments' dtypes, else the method `call` of a derived class.")
      .def(
          "__init__",
          [](KernelDispatcher* self, bool numbers_adapt) {
            new (self) KernelDispatcher{.numbers_adapt = numbers_adapt};
          },
          nb::arg("numbers_adapt"))
      .def("add_kernel", add_kernel, nb::arg("dtypes"), nb::arg("kernel"), nb::arg("on_host"), nb::arg("takes_numpy"),
           "From here on, calls with arrays of these dtypes go straight to the kernel.");
}

}  // namespace iruka::python
