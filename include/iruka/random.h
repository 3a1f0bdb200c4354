// Random numbers from Philox 4x32-10 (Salmon et al., SC 2011): the same seed gives the same numbers on every device
// and for any number of threads.
#pragma once

#include "iruka/array.h"

namespace iruka::random {

/// Restarts the process-wide stream. Without a call it starts from system entropy.
IRUKA_API void seed(uint64_t value);
/// Uniform in [0, 1), float64 or float32.
IRUKA_API Array random(const Dims& shape, Dtype dtype = Dtype::float64);
/// Integers in [low, high) without modulo bias. Raises ValueError when low >= high or the dtype cannot hold them.
IRUKA_API Array randint(int64_t low, int64_t high, const Dims& shape, Dtype dtype = Dtype::int64);
IRUKA_API Array normal(double mean, double deviation, const Dims& shape, Dtype dtype = Dtype::float64);
IRUKA_API Array uniform(double low, double high, const Dims& shape, Dtype dtype = Dtype::float64);

}  // namespace iruka::random
