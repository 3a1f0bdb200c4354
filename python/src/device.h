// iruka.Device: a device as Python sees it.
#pragma once

#include "convert.h"
#include "iruka/cuda.h"
#include "iruka/device.h"

namespace iruka::python {

struct PyDevice {
  Device* device;
};

/// A device, its name, a GPU's number, or None for the default one. Raises TypeError naming `what`.
Device& to_device(nb::handle object, const char* what);

/// What the driver tells of a GPU, asked without the GIL. Raises DeviceError for the CPU.
cuda::DeviceProperties properties_of(const PyDevice& device);

void bind_device(nb::module_& module);

}  // namespace iruka::python
