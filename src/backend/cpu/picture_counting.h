// The CPU's implementation of the service PictureCounts.
#pragma once

#include "core/picture_counts.h"

namespace iruka::cpu_backend {

PictureCounts& cpu_picture_counts();

}  // namespace iruka::cpu_backend
