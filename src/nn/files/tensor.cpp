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

namespace {

/// The last element must lie in the storage; 128 bits hold every sum of products here.
void check_range(const TensorName& tensor, const StorageMemory& memory, std::string_view key, Dtype dtype,
                 std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t offset, int64_t count) {
  if (offset < 0) tensor.refuse("has the negative offset " + std::to_string(offset));
  __int128 last = offset;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] < 0) tensor.refuse("has the negative stride " + std::to_string(strides[i]));
    if (count > 0) last += static_cast<__int128>(shape[i] - 1) * strides[i];
  }
  const auto elements = static_cast<__int128>(memory.size / static_cast<uint64_t>(itemsize(dtype)));
  if (count == 0 ? last <= elements : last < elements) return;
  auto text = [](std::span<const int64_t> list) { return to_string(Dims(list.data(), static_cast<int>(list.size()))); };
  tensor.refuse("of shape " + text(shape) + ", strides " + text(strides) + " and offset " + std::to_string(offset) +
                " leaves its storage " + in_quotes(key) + " of " + std::to_string(static_cast<int64_t>(elements)) +
                " elements");
}

}  // namespace

Array array_in_storage(const TensorName& tensor, const StorageMemory& memory, std::string_view key, Dtype dtype,
                       std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t offset) {
  if (shape.size() != strides.size()) {
    tensor.refuse("has " + std::to_string(shape.size()) + " extents and " + std::to_string(strides.size()) +
                  " strides");
  }
  const int64_t count = count_elements(tensor, shape, dtype);
  const Dims extents(shape.data(), static_cast<int>(shape.size()));
  check_range(tensor, memory, key, dtype, shape, strides, offset, count);
  if (count == 0) return Array::empty(extents, dtype, cpu());
  Dims steps(extents.size());
  for (int i = 0; i < extents.size(); ++i) {
    // Along an axis of one element no step is ever made; torch writes anything there.
    steps[i] = extents[i] == 1 ? itemsize(dtype) : strides[static_cast<size_t>(i)] * itemsize(dtype);
  }
  return {memory.buffer, dtype, extents, std::move(steps), memory.offset + offset * itemsize(dtype)};
}

void check_bools(const TensorName& tensor, std::span<const uint8_t> bytes) {
  const auto wrong = std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte > 1; });
  if (wrong == bytes.end()) return;
  tensor.refuse("holds the byte " + std::to_string(*wrong) + " among its bools, whose bytes are 0 or 1");
}

}  // namespace iruka::nn
