// Convolutions and pooling on the CPU: images with the channels last, of float32 or float64.
#pragma once

#include "core/convolutions.h"

namespace iruka::cpu_backend {

Convolutions& cpu_convolutions();

}  // namespace iruka::cpu_backend
