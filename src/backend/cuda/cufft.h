// cuFFT, found at run time, as the Fourier transforms of a GPU.
#pragma once

#include "backend/cuda/cuda_device.h"
#include "core/fourier.h"

namespace iruka::cuda_backend {

/// Raises nothing; transform() raises DeviceError that says what to install where cuFFT is missing.
FourierLibrary& cuda_fourier(CudaDevice& device);

}  // namespace iruka::cuda_backend
