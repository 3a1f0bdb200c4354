// Reads every element of what a loader returned, so that a sanitizer sees arrays that leave their memory.
#pragma once

#include <cstdint>

#include "iruka/nn.h"

namespace iruka::nn {

/// The sum of all bytes of the elements. An array that repeats its memory endlessly is read along its first elements.
inline uint64_t bytes_of_elements(const Array& array, int axis = 0, const uint8_t* data = nullptr) {
  constexpr int64_t kMostSteps = 64;
  if (axis == 0) data = static_cast<const uint8_t*>(array.data());
  uint64_t sum = 0;
  if (array.size() == 0) return sum;
  if (axis == array.ndim()) {
    for (int64_t i = 0; i < array.itemsize(); ++i) sum += data[i];
    return sum;
  }
  const int64_t extent = array.shape(axis), stride = array.strides()[axis];
  const bool whole = array.size() <= kMostSteps;
  for (int64_t i = 0; i < extent; i += whole ? 1 : extent > 1 ? extent - 1 : 1) {
    sum += bytes_of_elements(array, axis + 1, data + i * stride);
  }
  return sum;
}

inline uint64_t bytes_of_elements(const Value& value) {
  uint64_t sum = 0;
  switch (value.kind()) {
    case Value::Kind::array: return bytes_of_elements(value.array());
    case Value::Kind::list:
    case Value::Kind::tuple:
      for (const Value& item : value.values()) sum += bytes_of_elements(item);
      return sum;
    case Value::Kind::mapping:
      for (const Item& item : value.items()) sum += bytes_of_elements(item.key) + bytes_of_elements(item.value);
      return sum;
    default: return sum;
  }
}

}  // namespace iruka::nn
