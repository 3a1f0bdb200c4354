// Frequencies by their distance, for Python, which divides by its own rules.
#pragma once

#include "iruka/array.h"

namespace iruka::ops {

/// 0, 1, ..., -2, -1 of n times `step`, or 0, 1, ..., n / 2 times it.
Array frequencies(int64_t n, bool is_half, double step);

}  // namespace iruka::ops
