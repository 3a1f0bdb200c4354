// Arrays of other libraries: NumPy, the buffer protocol, DLPack.
#pragma once

#include "convert.h"

namespace iruka::python {

/// Whether as_array has a chance: NumPy arrays, buffers, __array__, __dlpack__, sequences.
bool is_array_like(PyObject* object);

/// An array of anything array-like. Shares memory where dtype, alignment and byte order allow, else copies.
/// Raises TypeError naming a dtype that is not supported.
Array as_array(nb::handle object);

/// A NumPy array over the same memory; read-only when the array is.
nb::object numpy_view(nb::handle array);

/// Py_bf_getbuffer: strides and format, no copy. bfloat16 has no format and raises BufferError.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

/// DLPack, as the Python array API standard (2023.12) words it.
nb::object to_dlpack(nb::handle self, nb::handle max_version, nb::handle device, nb::handle copy);
Array from_dlpack(nb::handle object, nb::handle copy);

}  // namespace iruka::python
