// What lies beyond the ends of a picture.
#pragma once

#include <cstdint>

namespace iruka::image {

/// By NumPy's names. The numbers are those of BorderRule (core/kernels/border.h).
enum class Border : uint8_t { constant, edge, reflect, symmetric, wrap };

}  // namespace iruka::image
