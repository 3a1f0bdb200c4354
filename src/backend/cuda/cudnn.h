// Convolutions on a GPU by cuDNN.
#pragma once

#include "backend/cuda/cuda_device.h"
#include "core/convolutions.h"

namespace iruka::cuda_backend {

Convolutions& cuda_convolutions(CudaDevice& device);

}  // namespace iruka::cuda_backend
