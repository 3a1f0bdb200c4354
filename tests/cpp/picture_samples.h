// Pictures for tests, and their bytes.
#pragma once

#include <cstdint>
#include <string>

#include "iruka/array.h"
#include "iruka/device.h"
#include "iruka/ops.h"

namespace iruka::test {

/// Numbers from 0 to `white` that repeat late.
inline Array picture(const Dims& shape, Dtype dtype, double white = 255) {
  Array values = Array::empty(shape, Dtype::float32, cpu());
  auto* const numbers = static_cast<float*>(values.data());
  uint32_t state = 12345;
  for (int64_t k = 0; k < values.size(); ++k) {
    state = state * 1664525 + 1013904223;
    numbers[k] = static_cast<float>(static_cast<double>(state >> 24) * white / 255);
  }
  return values.astype(dtype);
}

/// In C order, from any device.
inline std::string bytes_of(const Array& x) {
  const Array host = &x.device() == &cpu() ? x.contiguous() : copy_to(cpu(), x);
  return {static_cast<const char*>(host.data()), static_cast<size_t>(host.nbytes())};
}

}  // namespace iruka::test
