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
/// With `endpoint`, `high` itself may come too: the only way to a 64-bit dtype's largest value.
IRUKA_API Array randint(const Scalar& low, const Scalar& high, const Dims& shape, Dtype dtype = Dtype::int64,
                        bool endpoint = false);
/// Normal deviates by Box and Muller's transform, float64 or float32.
IRUKA_API Array normal(double mean, double deviation, const Dims& shape, Dtype dtype = Dtype::float64);
/// Uniform in [low, high), float64 or float32; rounding may give `high`.
IRUKA_API Array uniform(double low, double high, const Dims& shape, Dtype dtype = Dtype::float64);

}  // namespace iruka::random
