// Transposed copies on the CPU.
#pragma once

#include "core/turning.h"

namespace iruka::cpu_backend {

Turning& cpu_turning();

}  // namespace iruka::cpu_backend
