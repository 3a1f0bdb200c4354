// Between Python objects and Iruka's values. Everything here throws; nothing leaves a Python error pending.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <string>

#include "gil.h"
#include "iruka/array.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"

namespace iruka::python {

namespace nb = nanobind;

/// The Python type of iruka.ndarray; set once, when the module is made.
extern PyTypeObject* array_type;

/// NumPy's types and the folder of this package: imported when the module is made, because an import may let another
/// thread run, which would deadlock if it then waited for the same function-local static.
struct Imported {
  PyTypeObject *generic, *ndarray, *boolean;
  PyObject* dtypes;  ///< a dict: dtype-likes seen so far
  std::string package_folder;
};
extern Imported imported;
void import_needed();

[[noreturn]] void raise_uninitialised(nb::handle object);

inline bool is_array(PyObject* object) {
  return Py_TYPE(object) == array_type || PyType_IsSubtype(Py_TYPE(object), array_type);
}
/// What a Python object holds. Raises TypeError for one whose __init__ never ran (T.__new__(T), or a subclass that does
/// not call it): it holds nothing.
template <class T>
T& instance_of(PyObject* object) {
  if (!nb::inst_ready(nb::handle(object))) raise_uninitialised(object);
  return *nb::inst_ptr<T>(nb::handle(object));
}
inline Array& array_of(PyObject* object) { return instance_of<Array>(object); }
/// The same for an object of any type. Raises TypeError for one that is no array.
Array& checked_array(nb::handle object, const char* function);

/// A new reference to an iruka.ndarray.
PyObject* wrap(Array&& array);
/// A new array of that value, made without the GIL.
Array filled(const Dims& shape, const Scalar& value, Dtype dtype, Device& device);
inline nb::object to_python(Array array) { return nb::steal(wrap(std::move(array))); }
/// The same of a new array that a function returns: a value where it has no axes, as NumPy returns a scalar.
inline PyObject* wrap_result(Array array) { return wrap(std::move(array).as_value()); }
inline nb::object to_result(Array array) { return nb::steal(wrap_result(std::move(array))); }
/// A value with the element at `offset` bytes of the array's buffer, which may change afterwards. Waits for no device.
Array value_at(const Array& array, int64_t offset);

/// The Python object "iruka.NAME"; imported at the first use.
nb::object package_attribute(const char* module, const char* name);
nb::object numpy_attribute(const char* name);

/// str(object) as UTF-8, and repr(object), for messages: a lone surrogate is escaped.
std::string text_of(nb::handle object);
std::string describe(nb::handle object);
/// A str that a caller gave. Raises TypeError naming `what` for anything else, ValueError for a NUL or lone surrogate.
std::string to_text(nb::handle object, const std::string& what);

/// Any dtype-like: numpy.dtype, scalar type, name, Python's bool, int, float, complex. Raises TypeError that names it.
Dtype to_dtype(nb::handle object);
std::optional<Dtype> to_optional_dtype(nb::handle object);
/// The numpy.dtype; bfloat16 comes from ml_dtypes, imported at the first use.
nb::object dtype_object(Dtype dtype);

/// An int or a sequence of ints. Raises TypeError naming `what`, ShapeError for more than 32.
Dims to_dims(nb::handle object, const char* what);
/// 'C', 'F', 'A' or 'K', in either case; None is K. Raises ValueError for another text.
MemoryOrder to_order(nb::handle given);
nb::tuple from_dims(const Dims& dims);
int64_t to_int64(nb::handle object, const char* what);
/// What float() gives. Raises TypeError naming `what` for what is no real number, OverflowError for too large an int.
double to_double(nb::handle object, const char* what);

/// Python's and NumPy's scalars (the latter typed); false for anything else. An integer beyond 64 bits becomes a float
/// where the value is `inexact`, and raises OverflowError elsewhere.
bool to_scalar(PyObject* object, Scalar& scalar, bool inexact = false);
/// ops::check_element, and NumPy's warning of what it drops.
void check_element(const Scalar& value, Dtype dtype);
/// The same for the elements of an array: a value, as NumPy's scalars, where it lies on the CPU; others are cast.
void check_elements(const Array& values, Dtype dtype);
/// Gives NumPy's ComplexWarning where a cast drops imaginary parts.
void warn_of_discarded_imaginary(Dtype from, Dtype to);
/// Whether an integer of any size has a place among elements of this dtype: as a float, or as true.
inline bool takes_any_integer(Dtype dtype) { return !is_integer(dtype); }
/// Whether `object` is an int that neither int64 nor uint64 holds.
bool is_huge_integer(PyObject* object);
nb::object from_scalar(const Scalar& scalar);
/// The only element. While a GPU is waited for, other threads and functions that streams call may have the GIL.
Scalar item_of(Array array);

/// What becomes of a Python integer that neither int64 nor uint64 holds: OverflowError, the float nearest to it, or the
/// infinity of its sign.
enum class HugeInteger : uint8_t { refused, as_float, as_infinity };

/// One argument of an array function: an array, a scalar, or something an array is made of. The array is a handle of
/// its own, so that work without the GIL may use it. It stays where it is once argument() was called.
class Operand {
 public:
  /// False if `object` is none of these. Converted arrays are placed on the device of the arrays among `others`.
  bool take(PyObject* object, bool only_arrays_and_scalars, HugeInteger huge = HugeInteger::refused,
            std::span<PyObject* const> others = {});
  Argument argument() const { return array_ ? Argument(*array_) : Argument(scalar_); }
  /// The same, made in its place in the list.
  template <class Arguments>
  void add_to(Arguments& arguments) const {
    array_ ? arguments.add(*array_) : arguments.add(scalar_);
  }

 private:
  std::optional<Array> array_;
  Scalar scalar_;
};

/// What `make` returns, made without the GIL; where it has no axes, the array must be new, and Python gets a value.
template <class Make>
nb::object make_array(Make&& make) {
  return to_result(without_gil(make));
}

/// The same of an array that may change though it has no axes.
template <class Make>
nb::object make_mutable_array(Make&& make) {
  return to_python(without_gil(make));
}

/// Whether the call that runs is to end: on the main thread a signal handler raised, on another one Ctrl-C came since
/// the call began. With or without the GIL.
bool interrupt_requested() noexcept;

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

/// Lets the functions of a module or class, and of its classes, word the refusal of arguments as Python does.
void explain_refused_arguments(nb::handle scope);

void bind_array(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_reductions(nb::module_& module);
/// The methods of arrays that are rows of the table of reductions.
void bind_reduction_methods(nb::class_<Array>& type);
void bind_ops(nb::module_& module);
void bind_indexing(nb::module_& module);
void bind_index_methods(nb::class_<Array>& type);
void bind_random(nb::module_& module);
void bind_statistics(nb::module_& module);
void bind_image(nb::module_& module);
void bind_geometry(nb::module_& module);
void bind_filters(nb::module_& module);
void bind_picture_statistics(nb::module_& module);
void bind_patch_matching(nb::module_& module);
void bind_pipeline(nb::module_& module);
void bind_nn(nb::module_& module);
void bind_perceptron(nb::module_& module);
void bind_interop(nb::module_& module);
void bind_memory(nb::module_& module);
void bind_sorting(nb::module_& module);

}  // namespace iruka::python
