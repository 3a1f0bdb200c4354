// NumPy's arrays by NumPy's own C interface: calls of Python for each would take longer than a small kernel.
#pragma once

#include <optional>

#include "convert.h"

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

/// A NumPy array over the memory of an array on the CPU, which lives as long; read-only where the array is. Not of
/// bfloat16, which NumPy does not have.
nb::object numpy_array_over(Array array);

}  // namespace iruka::python
