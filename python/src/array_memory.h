// iruka.ndarray's methods about its bytes.
#pragma once

#include "convert.h"

namespace iruka::python {

void bind_array_memory(nb::class_<Array>& type);

}  // namespace iruka::python
