// Filters of pictures on the CPU.
#pragma once

#include "core/filtering.h"

namespace iruka::cpu_backend {

Filterings& cpu_filterings();

}  // namespace iruka::cpu_backend
