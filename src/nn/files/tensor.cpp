#include "nn/files/tensor.h"

#include <algorithm>
#include <cstring>

#include "core/layout.h"
#include "iruka/device.h"
#include "nn/files/input.h"

namespace iruka::nn {

std::string joined(std::span<const std::string> path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

void TensorName::refuse(const std::string& problem) const {
  raise_value_error(where, "tensor " + in_quotes(path.empty() ? std::string(name) : joined(path)) + " " + problem);
}

int64_t count_elements(const TensorName& tensor, std::span<const int64_t> extents, Dtype dtype) {
  if (extents.size() > static_cast<size_t>(kMaxRank)) {
    tensor.refuse("has " + std::to_string(extents.size()) + " axes; an array has " + std::to_string(kMaxRank) +
                  " at most");
  }
  int64_t bytes = itemsize(dtype);
  bool empty = false;
  for (const int64_t extent : extents) {
    if (extent < 0) tensor.refuse("has the negative extent " + std::to_string(extent));
    empty |= extent == 0;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) {
      tensor.refuse("has shape " + to_string(Dims(extents.data(), static_cast<int>(extents.size()))) +
                    ", whose bytes are more than 2^63 - 1");
    }
  }
  return empty ? 0 : bytes / itemsize(dtype);
}

Array array_at(const BufferHandle& buffer, int64_t offset, Dtype dtype, const Dims& shape) {
  Dims strides = c_strides(shape, itemsize(dtype));
  const auto* const data = static_cast<const uint8_t*>(buffer->data()) + offset;
  if (is_aligned(data, dtype, shape, strides)) return {buffer, dtype, shape, std::move(strides), offset};
  return array_of({data, static_cast<size_t>(count(shape) * itemsize(dtype))}, dtype, shape);
}

Array array_of(std::span<const uint8_t> bytes, Dtype dtype, const Dims& shape) {
  Array array = Array::empty(shape, dtype, cpu());
  if (!bytes.empty()) std::memcpy(array.data(), bytes.data(), bytes.size());
  return array;
}

void check_bools(const TensorName& tensor, std::span<const uint8_t> bytes) {
  const auto wrong = std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte > 1; });
  if (wrong == bytes.end()) return;
  tensor.refuse("holds the byte " + std::to_string(*wrong) + " among its bools, whose bytes are 0 or 1");
}

}  // namespace iruka::nn
