// The libraries that implement operations on a device, by device.
#pragma once

#include "core/fourier.h"
#include "core/linear_algebra.h"
#include "iruka/device.h"

namespace iruka {

/// OpenBLAS for the CPU, cuBLAS and cuSOLVER for a GPU. They are loaded at their first use, which raises DeviceError
/// that says what to install.
LinearAlgebra& linear_algebra(Device& device);

/// Our own for the CPU, cuFFT for a GPU.
FourierLibrary& fourier_library(Device& device);

}  // namespace iruka
