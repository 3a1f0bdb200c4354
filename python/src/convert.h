// Between Python objects and Iruka's values. Everything here throws; nothing leaves a Python error pending.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka::python {

namespace nb = nanobind;

/// The Python type of iruka.ndarray; set once, when the module is made.
extern PyTypeObject* array_type;

inline bool is_array(PyObject* object) {
  return Py_TYPE(object) == array_type || PyType_IsSubtype(Py_TYPE(object), array_type);
}
inline Array& array_of(PyObject* object) { return *nb::inst_ptr<Array>(nb::handle(object)); }

/// A new reference to an iruka.ndarray.
PyObject* wrap(Array array);
inline nb::object to_python(Array array) { return nb::steal(wrap(std::move(array))); }

/// "iruka.NAME" as Python sees it; imported when first asked.
nb::object package_attribute(const char* module, const char* name);
nb::object numpy_attribute(const char* name);

/// Any dtype-like: numpy.dtype, scalar type, name, Python's bool, int, float, complex. Raises TypeError that names it.
Dtype to_dtype(nb::handle object);
std::optional<Dtype> to_optional_dtype(nb::handle object);
/// The numpy.dtype; bfloat16 comes from ml_dtypes, imported when first asked.
nb::object dtype_object(Dtype dtype);

/// An int or a sequence of ints. Raises TypeError naming `what`, ShapeError for more than 32.
Dims to_dims(nb::handle object, const char* what);
nb::tuple from_dims(const Dims& dims);
int64_t to_int64(nb::handle object, const char* what);

/// Python's and NumPy's scalars (the latter typed); false for anything else. Raises OverflowError beyond 64 bits.
bool to_scalar(PyObject* object, Scalar& scalar);
nb::object from_scalar(const Scalar& scalar);

/// One argument of an array function, and what keeps it alive: an array, a scalar, or something an array is made of.
class Operand {
 public:
  /// False when `object` is none of these (and `strict`, or no sequence or array-like either).
  bool take(PyObject* object, bool only_arrays_and_scalars);
  Argument argument() const { return array_ ? Argument(*array_) : Argument(scalar_); }
  int64_t size() const { return array_ ? array_->size() : 1; }

 private:
  const Array* array_ = nullptr;
  Array converted_;
  Scalar scalar_;
};

/// Lets other Python threads run while much work is done. Giving the GIL away costs about 0.1 us, so small work keeps
/// it.
class GilRelease {
 public:
  explicit GilRelease(int64_t elements) : state_(elements >= kLarge ? PyEval_SaveThread() : nullptr) {}
  ~GilRelease() {
    if (state_) PyEval_RestoreThread(state_);
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  static constexpr int64_t kLarge = 2048;

 private:
  PyThreadState* state_;
};

/// Sets the Python error of the C++ exception being handled.
void set_python_error() noexcept;

/// Runs `body` in a type slot: an exception becomes a Python error and `failure` is returned.
template <class Body, class Result>
Result guarded(Result failure, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    set_python_error();
    return failure;
  }
}

void bind_errors(nb::module_& module);
void bind_array(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_ops(nb::module_& module);
void bind_random(nb::module_& module);
void bind_image(nb::module_& module);
void bind_interop(nb::module_& module);
void bind_memory(nb::module_& module);

}  // namespace iruka::python
