// The CPU's implementation of the service Resamplings.
#pragma once

#include "core/resampling.h"

namespace iruka::cpu_backend {

Resamplings& cpu_resamplings();

}  // namespace iruka::cpu_backend
