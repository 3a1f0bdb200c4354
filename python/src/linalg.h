// The operator @ of arrays.
#pragma once

#include "convert.h"

namespace iruka::python {

PyObject* matrix_multiply(PyObject* x, PyObject* y);
PyObject* inplace_matrix_multiply(PyObject* x, PyObject* y);
void bind_linalg(nb::module_& module);
void bind_fft(nb::module_& module);

}  // namespace iruka::python
