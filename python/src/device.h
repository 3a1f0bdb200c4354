// iruka.Device: a device as Python sees it.
#pragma once

#include "convert.h"
#include "iruka/device.h"

namespace iruka::python {

struct PyDevice {
  Device* device;
};

void bind_device(nb::module_& module);

}  // namespace iruka::python
