#include "backend/libraries.h"

#include "backend/cpu/fourier.h"
#include "backend/cpu/openblas.h"
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/cufft.h"
#include "backend/cuda/cusolver.h"
#include "core/device.h"

namespace iruka {

LinearAlgebra& linear_algebra(Device& device) {
  return device.target().is_gpu ? cuda_backend::cuda_linear_algebra(static_cast<cuda_backend::CudaDevice&>(device))
                                : cpu_backend::openblas();
}

FourierLibrary& fourier_library(Device& device) {
  return device.target().is_gpu ? cuda_backend::cuda_fourier(static_cast<cuda_backend::CudaDevice&>(device))
                                : cpu_backend::fourier();
}

}  // namespace iruka
