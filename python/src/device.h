// iruka.Device, the Python class of a device.
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

/// The driver's data about a GPU, read without the GIL. Raises DeviceError for the CPU.
cuda::DeviceProperties properties_of(const PyDevice& device);

void bind_device(nb::module_& module);

}  // namespace iruka::python
