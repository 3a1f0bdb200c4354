// The CPU's implementation of the service PictureLevels.
#pragma once

#include "core/picture_levels.h"

namespace iruka::cpu_backend {

PictureLevels& cpu_picture_levels();

}  // namespace iruka::cpu_backend
