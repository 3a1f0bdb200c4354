#include "convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/device.h"
#include "cuda.h"
#include "float_errors.h"
#include "interop.h"
#include "ops/elementwise/loop_types.h"

namespace iruka::python {

PyTypeObject* array_type = nullptr;

PyObject* wrap(Array&& array) {
  nb::object object = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(array_type)));
  new (nb::inst_ptr<Array>(object)) Array(std::move(array));
  nb::inst_mark_ready(object);
  return object.release().ptr();
}

Array filled(const Dims& shape, const Scalar& value, Dtype dtype, Device& device) {
  const GilRelease release;
  Array array = Array::empty(shape, dtype, device);
  array.fill(value);
  return array;
}

Array value_at(const Array& array, int64_t offset) {
  const size_t size = static_cast<size_t>(array.itemsize());
  Device& device = array.device();
  const auto value_of = [dtype = array.dtype()](BufferHandle buffer) {
    return Array(std::move(buffer), dtype, {}, {}).as_value();
  };
  const auto element = [offset](const Buffer& buffer) { return static_cast<const char*>(buffer.data()) + offset; };
  if (is_host(device)) return value_of(std::make_shared<Buffer>(device, element(*array.buffer()), size));
  return without_gil([&, buffer = array.buffer()] {  // a full pool waits for its device
    auto copy = std::make_shared<Buffer>(device, size);
    device.copy(copy->data(), element(*buffer), size);
    return value_of(std::move(copy));
  });
}

Imported imported{};

void import_needed() {
  const auto type = [](const char* name) {
    return reinterpret_cast<PyTypeObject*>(numpy_attribute(name).release().ptr());
  };
  nb::object modules = package_attribute("sys", "modules");
  imported = {type("generic"), type("ndarray"), type("bool_"), PyDict_New(),
              text_of(modules["iruka"].attr("__path__")[0])};
}

void raise_uninitialised(nb::handle object) {
  throw TypeError("the " + text_of(object.type().attr("__name__")) +
                  " is not initialised: its __init__ was not called");
}

Array& checked_array(nb::handle object, const char* function) {
  if (!is_array(object.ptr())) {
    throw TypeError(std::string(function) + ": expected an iruka.ndarray, not " + describe(object.type()));
  }
  return array_of(object.ptr());
}

nb::object package_attribute(const char* module, const char* name) { return nb::module_::import_(module).attr(name); }

nb::object numpy_attribute(const char* name) { return package_attribute("numpy", name); }

namespace {

std::array<PyObject*, kDtypeCount> dtype_objects{};  // filled at the first use; kept until the process ends

}  // namespace

nb::object dtype_object(Dtype dtype) {
  PyObject*& entry = dtype_objects[static_cast<size_t>(dtype)];
  if (!entry) {
    nb::object source = dtype == Dtype::bfloat16 ? package_attribute("ml_dtypes", "bfloat16") : nb::str(name(dtype));
    entry = numpy_attribute("dtype")(source).release().ptr();
  }
  return nb::borrow(entry);
}

std::string text_of(nb::handle object) {
  nb::str text(object);
  Py_ssize_t size = 0;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {utf8, static_cast<size_t>(size)};
  PyErr_Clear();
  nb::object escaped = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!escaped.is_valid()) throw nb::python_error();
  return {PyBytes_AS_STRING(escaped.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(escaped.ptr()))};
}

std::string describe(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Repr(object.ptr()));
  if (text.is_valid()) return text_of(text);
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
  PyErr_Clear();  // integers of more than 4300 digits have no text
  return "a value of " + text_of(nb::repr(object.type()));
}

std::string to_text(nb::handle object, const std::string& what) {
  if (!PyUnicode_Check(object.ptr())) throw TypeError(what + " must be a str, not " + describe(object.type()));
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (!utf8) throw nb::python_error();
  std::string text(utf8, static_cast<size_t>(size));
  if (text.find('\0') != std::string::npos) throw ValueError(what + " holds a NUL character: " + describe(object));
  return text;
}

namespace {

/// A numpy.dtype's own name, after what no array here can hold was refused.
Dtype from_numpy_dtype(nb::handle dtype) {
  std::string name = text_of(dtype.attr("name"));
  if (!nb::cast<bool>(dtype.attr("isnative"))) {
    throw TypeError("dtype " + describe(dtype) +
                    " is not in this machine's byte order, in which arrays are stored: use dtype.newbyteorder('=')");
  }
  try {
    return parse_dtype(name);
  } catch (const TypeError&) {
    throw TypeError("dtype '" + name +
                    "' is not supported; supported are bool, int8 to int64, uint8 to uint64, "
                    "float16, bfloat16, float32, float64, complex64 and complex128");
  }
}

Dtype resolve_dtype(nb::handle object) {
  if (nb::isinstance<nb::str>(object) && text_of(object) == "bfloat16") return Dtype::bfloat16;
  if (is_array(object.ptr())) throw TypeError("Cannot construct a dtype from an array");
  nb::object dtype;
  try {
    dtype = numpy_attribute("dtype")(object);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    throw TypeError("cannot interpret " + describe(object) + " as a dtype");
  }
  return from_numpy_dtype(dtype);
}

}  // namespace

Dtype to_dtype(nb::handle object) {
  for (int k = 0; k < kDtypeCount; k++) {  // NumPy has one object for each of its own dtypes
    if (dtype_objects[k] == object.ptr()) return static_cast<Dtype>(k);
  }
  // Resolving calls NumPy. What programs write (types, names, dtype objects) is hashable and repeats, so it is cached.
  if (PyObject* found = PyDict_GetItemWithError(imported.dtypes, object.ptr())) {
    return static_cast<Dtype>(PyLong_AsLong(found));
  }
  PyErr_Clear();
  Dtype dtype = resolve_dtype(object);
  dtype_object(dtype);
  if (nb::isinstance<nb::str>(object) || PyType_Check(object.ptr())) {
    nb::int_ value(static_cast<int>(dtype));
    if (PyDict_SetItem(imported.dtypes, object.ptr(), value.ptr()) != 0) PyErr_Clear();
  }
  return dtype;
}

std::optional<Dtype> to_optional_dtype(nb::handle object) {
  if (object.is_none()) return {};
  return to_dtype(object);
}

int64_t to_int64(nb::handle object, const char* what) {
  if (!PyIndex_Check(object.ptr())) {
    throw TypeError(std::string(what) + " must be an integer, not " + describe(object.type()));
  }
  nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow) throw OverflowError(std::string(what) + " " + describe(index) + " does not fit 64 bits");
  return value;
}

double to_double(nb::handle object, const char* what) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value != -1 || !PyErr_Occurred()) return value;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  throw TypeError(std::string(what) + " must be a real number, not " + describe(object.type()));
}

Dims to_dims(nb::handle object, const char* what) {
  Dims dims;
  if (PyLong_Check(object.ptr()) || (PyIndex_Check(object.ptr()) && !PySequence_Check(object.ptr()))) {
    dims.push_back(to_int64(object, what));
    return dims;
  }
  if (is_array(object.ptr()) && array_of(object.ptr()).ndim() == 0) {
    dims.push_back(to_int64(object, what));
    return dims;
  }
  const nb::object sequence = nb::steal(PySequence_Tuple(object.ptr()));  // __index__ of one may change a list
  if (!sequence.is_valid()) {
    PyErr_Clear();
    throw TypeError(std::string(what) + " must be an integer or a sequence of integers, not " + describe(object));
  }
  Py_ssize_t size = PyTuple_GET_SIZE(sequence.ptr());
  if (size > kMaxRank) {
    throw ShapeError(std::string(what) + " has " + std::to_string(size) + " entries; arrays have at most " +
                     std::to_string(kMaxRank) + " axes");
  }
  for (Py_ssize_t i = 0; i < size; i++) dims.push_back(to_int64(PyTuple_GET_ITEM(sequence.ptr(), i), what));
  return dims;
}

MemoryOrder to_order(nb::handle given) {
  const std::string text = given.is_none() ? "K" : to_text(given, "order");
  if (text == "C" || text == "c") return MemoryOrder::c;
  if (text == "F" || text == "f") return MemoryOrder::fortran;
  if (text == "A" || text == "a") return MemoryOrder::any;
  if (text == "K" || text == "k") return MemoryOrder::keep;
  throw ValueError("order must be one of 'C', 'F', 'A', or 'K' (got '" + text + "')");
}

nb::tuple from_dims(const Dims& dims) {
  nb::object tuple = nb::steal(PyTuple_New(dims.size()));
  for (int i = 0; i < dims.size(); i++) PyTuple_SET_ITEM(tuple.ptr(), i, PyLong_FromLongLong(dims[i]));
  return nb::borrow<nb::tuple>(tuple);
}

namespace {

Scalar from_python_int(PyObject* object, bool inexact) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) return Scalar(static_cast<int64_t>(value));
  if (overflow > 0) {
    unsigned long long large = PyLong_AsUnsignedLongLong(object);
    if (!PyErr_Occurred()) return Scalar(static_cast<uint64_t>(large));
    PyErr_Clear();
  }
  if (inexact) {
    double value = PyLong_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return Scalar(value);
  }
  throw OverflowError("Python integer " + describe(object) + " is out of bounds for int64 and uint64");
}

/// numpy.generic: its bytes are those of one element.
bool from_numpy_scalar(PyObject* object, Scalar& scalar) {
  Dtype dtype;
  try {
    dtype = to_dtype(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))));
  } catch (const TypeError&) {
    return false;
  }
  if (dtype == Dtype::bfloat16) {  // has no buffer
    double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    scalar = Scalar(value).typed(dtype);
    return true;
  }
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  scalar = Scalar::load(dtype, view.buf);
  PyBuffer_Release(&view);
  return true;
}

bool is_numpy_scalar(PyObject* object) { return PyType_IsSubtype(Py_TYPE(object), imported.generic); }

}  // namespace

bool is_huge_integer(PyObject* object) {
  if (!PyLong_Check(object) || PyBool_Check(object)) return false;
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow <= 0) return overflow < 0;
  PyLong_AsUnsignedLongLong(object);
  bool huge = PyErr_Occurred();
  PyErr_Clear();
  return huge;
}

bool to_scalar(PyObject* object, Scalar& scalar, bool inexact) {
  if (PyLong_CheckExact(object)) return scalar = from_python_int(object, inexact), true;
  if (PyFloat_CheckExact(object)) return scalar = Scalar(PyFloat_AS_DOUBLE(object)), true;
  if (PyBool_Check(object)) return scalar = Scalar(object == Py_True), true;
  if (PyComplex_CheckExact(object)) {
    Py_complex value = PyComplex_AsCComplex(object);
    return scalar = Scalar(std::complex<double>(value.real, value.imag)), true;
  }
  // numpy.float64 is a subclass of float and numpy.complex128 of complex, so check NumPy's types before Python's.
  if (is_numpy_scalar(object)) return from_numpy_scalar(object, scalar);
  if (PyLong_Check(object)) return scalar = from_python_int(object, inexact), true;
  if (PyFloat_Check(object)) return scalar = Scalar(PyFloat_AsDouble(object)), true;
  if (PyComplex_Check(object)) {
    Py_complex value = PyComplex_AsCComplex(object);
    return scalar = Scalar(std::complex<double>(value.real, value.imag)), true;
  }
  return false;
}

void check_element(const Scalar& value, Dtype dtype) {
  ops::check_element(value, dtype);
  warn_of_discarded_imaginary(value.dtype(), dtype);
}

void check_elements(const Array& values, Dtype dtype) {
  const bool is_scalar = values.is_value() && is_host(values.device());
  if (is_scalar && kind(dtype) == Kind::signed_integer && !can_cast(values.dtype(), dtype, Casting::safe))
    return check_element(item_of(values), dtype);
  warn_of_discarded_imaginary(values.dtype(), dtype);
}

void warn_of_discarded_imaginary(Dtype from, Dtype to) {
  if (!is_complex(from) || is_complex(to) || kind(to) == Kind::boolean) return;
  warn_caller("Casting complex values to real discards the imaginary part",
              package_attribute("numpy.exceptions", "ComplexWarning"));
}

nb::object from_scalar(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Kind::boolean: return nb::bool_(scalar.as_bool());
    case Kind::signed_integer: return nb::steal(PyLong_FromLongLong(scalar.as_int64()));
    case Kind::unsigned_integer: return nb::steal(PyLong_FromUnsignedLongLong(scalar.as_uint64()));
    case Kind::floating: return nb::steal(PyFloat_FromDouble(scalar.as_double()));
    case Kind::complex: break;
  }
  std::complex<double> value = scalar.as_complex();
  return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
}

bool Operand::take(PyObject* object, bool only_arrays_and_scalars, HugeInteger huge,
                   std::span<PyObject* const> others) {
  if (is_array(object)) {
    array_.emplace(array_of(object));
    return true;
  }
  if (huge == HugeInteger::as_infinity && is_huge_integer(object)) {
    scalar_ = Scalar(nb::handle(object) < nb::int_(0) ? -INFINITY : INFINITY);
    return true;
  }
  if (to_scalar(object, scalar_, huge == HugeInteger::as_float)) return true;
  if (only_arrays_and_scalars || !is_array_like(object)) return false;
  array_ = as_array(object, device_among(others));
  return true;
}

}  // namespace iruka::python
