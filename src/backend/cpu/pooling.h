// Pooling on the CPU: images with the channels last, of float32 or float64.
#pragma once

#include "core/pooling.h"

namespace iruka::cpu_backend {

Poolings& cpu_poolings();

}  // namespace iruka::cpu_backend
