// iruka.ndarray among NumPy's functions and in the array API standard.
#pragma once

#include "convert.h"

namespace iruka::python {

void bind_array_memory(nb::class_<Array>& type);

}  // namespace iruka::python
