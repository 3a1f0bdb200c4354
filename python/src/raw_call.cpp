#include "raw_call.h"

#include "cuda.h"
#include "interop.h"
#include "iruka/error.h"
#include "kernel.h"
#include "numpy_arrays.h"

namespace iruka::python {
namespace {

int64_t to_extent(PyObject* object, const std::string& kernel, const char* what) {
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0 ? value : overflow < 0 ? INT64_MIN : INT64_MAX;
  }
  const nb::object number = nb::steal(PyNumber_Index(object));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw TypeError(kernel + "(): " + what + " must be an int or a tuple of 1 to 3 ints, not " +
                    describe(nb::handle(object)));
  }
  return to_extent(number.ptr(), kernel, what);
}

/// The place of a parameter that may also be named; null for another name.
PyObject** place_of(PyObject* (&given)[3], const std::string& name) {
  constexpr const char* kNames[] = {"grid", "block", "args"};
  for (size_t k = 0; k < 3; ++k)
    if (name == kNames[k]) return &given[k];
  return nullptr;
}

}  // namespace

LaunchExtents to_extents(PyObject* object, const std::string& kernel, const char* what) {
  if (!PyTuple_Check(object) && !PyList_Check(object)) return {to_extent(object, kernel, what)};
  const nb::tuple items = nb::steal<nb::tuple>(PySequence_Tuple(object));  // __index__ of one may change a list
  if (!items.is_valid()) throw nb::python_error();
  const Py_ssize_t count = PyTuple_GET_SIZE(items.ptr());
  if (count < 1 || count > 3)
    throw ValueError(kernel + "(): " + what + " has 1 to 3 dimensions, not " + std::to_string(count));
  LaunchExtents extents;
  int64_t* const places[] = {&extents.x, &extents.y, &extents.z};
  for (Py_ssize_t k = 0; k < count; ++k) *places[k] = to_extent(PyTuple_GET_ITEM(items.ptr(), k), kernel, what);
  return extents;
}

void RawArguments::add_argument(size_t k) {
  PyObject* const object = given_[k];
  if (is_array(object)) {
    arguments_.add(arrays_.add(array_of(object)));
  } else if (object == Py_None) {
    arguments_.add(nullptr);
  } else if (PyType_IsSubtype(Py_TYPE(object), imported.ndarray)) {
    add_numpy(k, object);
  } else if (Scalar scalar; to_scalar(object, scalar)) {
    arguments_.add(scalar);
  } else if (nb::hasattr(object, "__cuda_array_interface__") || nb::hasattr(object, "__dlpack__")) {
    arguments_.add(arrays_.add(as_array(object, device_of_arrays())));
  } else if (PyObject_CheckBuffer(object)) {
    add_bytes(object);
  } else if (const nb::object address = nb::getattr(object, "ptr", nb::none()); PyLong_Check(address.ptr())) {
    arguments_.add(PyLong_AsVoidPtr(address.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
  } else {
    throw TypeError(kernel_ + "(): argument " + std::to_string(k + 1) + " has unsupported type " +
                    describe(nb::handle(object).type()) +
                    "; a kernel takes arrays, numbers, None, and structures as NumPy's structured scalars or bytes");
  }
}

Device& RawArguments::device() const {
  for (const RawArgument& argument : span())
    if (argument.kind() == RawArgument::Kind::array) return argument.array().device();
  return default_device();
}

Device& RawArguments::device_of_arrays() const { return device_among(given_); }

/// A NumPy array's memory in place.
void RawArguments::add_numpy(size_t k, PyObject* object) {
  if (Device& device = device_of_arrays(); !is_host(device))
    throw TypeError(kernel_ + "(): argument " + std::to_string(k + 1) + " is a NumPy array, and the kernel runs on " +
                    device_name(device) + "; iruka.asarray(it) copies it there");
  const NumpyMemory memory = numpy_memory(object);  // the array keeps it
  arguments_.add(RawArgument::memory(memory.data, memory.writable, native_numpy_dtype(object)));
}

/// A structure: numpy.void, bytes, an instance of a ctypes.Structure.
void RawArguments::add_bytes(PyObject* object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const std::string& copy = bytes_.add(static_cast<const char*>(view.buf), static_cast<size_t>(view.len));
  PyBuffer_Release(&view);
  arguments_.add(std::as_bytes(std::span(copy.data(), copy.size())));
}

RawCall::RawCall(const std::string& kernel, PyObject* positional, PyObject* keywords) {
  PyObject* given[3] = {};  // grid, block, args
  const Py_ssize_t count = PyTuple_GET_SIZE(positional);
  if (count > 3) throw TypeError(kernel + "() takes grid, block and args, not " + std::to_string(count) + " arguments");
  for (Py_ssize_t k = 0; k < count; ++k) given[k] = PyTuple_GET_ITEM(positional, k);
  PyObject *key, *value;
  for (Py_ssize_t at = 0; keywords && PyDict_Next(keywords, &at, &key, &value);) {
    const std::string name = text_of(key);
    if (PyObject** place = place_of(given, name)) {
      if (*place) throw TypeError(kernel + "() got multiple values for argument '" + name + "'");
      *place = value;
    } else if (name == "shared_mem") {
      extents_.shared_bytes = to_int64(value, (kernel + "(): shared_mem").c_str());
    } else if (name == "stream") {
      stream_ = to_stream(value);
    } else {
      throw TypeError(kernel + "() got an unexpected keyword argument '" + name +
                      "'; a call takes grid, block, args, shared_mem and stream");
    }
  }
  const auto [grid, block, args] = given;
  if (!grid || !block || !args)
    throw TypeError(kernel + "() takes grid, block and args: kernel((blocks,), (threads,), (x, y))");
  if (!PyTuple_Check(args) && !PyList_Check(args))
    throw TypeError(kernel + "(): args must be a tuple, not " + describe(nb::handle(args).type()));
  args_ = PyTuple_Check(args) ? nb::borrow(args) : nb::steal(PyList_AsTuple(args));
  if (!args_.is_valid()) throw nb::python_error();
  extents_.grid = to_extents(grid, kernel, "grid");
  extents_.block = to_extents(block, kernel, "block");
}

void RawCall::launch(const RawKernel& kernel, const RawArguments& arguments) const {
  {
    GilRelease release;
    std::optional<StreamScope> scope;
    if (stream_) scope.emplace(arguments.device(), *stream_);
    kernel.launch(extents_, arguments.span());
  }
  emit_warnings(kernel.pop_warnings());
}

}  // namespace iruka::python
