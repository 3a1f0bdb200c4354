// Models of graphs, for iruka.nn.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "iruka/precision.h"

namespace iruka::python {

/// Raises ValueError that names `function` for another text than 'float32' and 'tf32'.
Precision to_precision(const std::string& name, const char* function);

void bind_model(nanobind::module_& module);

}  // namespace iruka::python
