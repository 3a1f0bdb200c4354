// Models of graphs, for iruka.nn.
#pragma once

#include <nanobind/nanobind.h>

namespace iruka::python {

void bind_model(nanobind::module_& module);

}  // namespace iruka::python
