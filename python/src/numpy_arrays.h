// NumPy's arrays by NumPy's own C interface: calls of Python for each would take longer than a small kernel.
#pragma once

#include <optional>

#include "convert.h"
#include "jit/kernel_launch.h"

namespace iruka::python {

/// Before any other function here, when the module is made.
void import_numpy_interface();

/// The dtype of a NumPy array; nothing where it is none of Iruka's, in the other byte order, or not aligned.
std::optional<Dtype> native_numpy_dtype(nb::handle array);

/// Where the elements of a NumPy array are.
struct NumpyMemory {
  void* data;
  Dims shape, strides;
  bool writable, contiguous;  ///< in C order
};
NumpyMemory numpy_memory(nb::handle array);

/// The same as an operand that lasts as long as the array has this memory and shape; nothing where the array is not
/// what native_numpy_dtype() takes, or of bfloat16.
std::optional<jit::Operand> numpy_operand(PyObject* array);
/// The value of a NumPy scalar; nothing for other objects, and where the dtype is none of Iruka's or bfloat16.
std::optional<Scalar> numpy_scalar(PyObject* object);
/// A new NumPy array without values, in C order.
nb::object empty_numpy_array(const Dims& shape, Dtype dtype);
/// A copy in C order, cast to the dtype.
nb::object numpy_copy(PyObject* array, Dtype dtype);
/// A new NumPy scalar of the element in memory.
PyObject* to_numpy_scalar(const void* element, Dtype dtype);

/// A NumPy array over the memory of an array on the CPU, which lives as long; read-only where the array is. Not of
/// bfloat16, which NumPy does not have.
nb::object numpy_array_over(Array array);

}  // namespace iruka::python
