// cuBLAS and cuSOLVER, found at run time, as the linear algebra of a GPU.
#pragma once

#include "backend/cuda/cuda_device.h"
#include "core/linear_algebra.h"

namespace iruka::cuda_backend {

/// Raises nothing; its functions raise DeviceError that says what to install where a library is missing.
LinearAlgebra& cuda_linear_algebra(CudaDevice& device);

}  // namespace iruka::cuda_backend
