// How exactly products and convolutions of float32 numbers are computed.
#pragma once

#include <cstdint>

namespace iruka {

/// `tf32` lets a GPU's matrix units round the factors of products to 10 bits of mantissa; sums stay float32. Other
/// dtypes and CPUs compute the same either way.
enum class Precision : uint8_t { float32, tf32 };

}  // namespace iruka
