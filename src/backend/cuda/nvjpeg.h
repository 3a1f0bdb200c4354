// JPEGs decoded into a GPU's memory by nvJPEG.
#pragma once

#include "backend/cuda/cuda_device.h"
#include "core/jpeg_decoding.h"

namespace iruka::cuda_backend {

JpegDecoders& cuda_jpeg_decoders(CudaDevice& device);

}  // namespace iruka::cuda_backend
