// Calling rows of the tables from Python.
#pragma once

#include "convert.h"
#include "iruka/ops.h"

namespace iruka::python {

/// One reduction with NumPy's keywords; `out`, an iruka.ndarray or None, is filled and returned when given.
nb::object reduce(const ReductionFunction& function, const Array& array, nb::handle axis, nb::handle dtype,
                  nb::handle out, bool keepdims);

/// One elementwise function of arrays and scalars; first output.
Array apply_function(const ElementwiseFunction& function, std::initializer_list<nb::handle> inputs);

}  // namespace iruka::python
