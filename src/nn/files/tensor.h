// Arrays from the bytes of a file: every size that the file gives is checked first.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "iruka/array.h"
#include "iruka/memory.h"

namespace iruka::nn {

/// Where a tensor is in a file, for messages: its name, or the keys that lead to it, which are joined only then.
struct TensorName {
  const std::string& where;
  std::string_view name;
  std::span<const std::string> path{};
  [[noreturn]] void refuse(const std::string& problem) const;
};

/// The keys that lead to a value, with dots between them.
std::string joined(std::span<const std::string> path);

/// The number of elements of a tensor in C order. Raises ValueError for a negative extent, a rank over kMaxRank, and
/// where the bytes of the tensor, or of its extents without zeros, exceed 63 bits.
int64_t count_elements(const TensorName& tensor, std::span<const int64_t> extents, Dtype dtype);

/// An array in C order whose first element is at byte `offset` of `buffer`; a copy where a view would be unaligned.
/// The caller has checked that the elements lie in the buffer.
Array array_at(const BufferHandle& buffer, int64_t offset, Dtype dtype, const Dims& shape);
/// The same of bytes that are copied.
Array array_of(std::span<const uint8_t> bytes, Dtype dtype, const Dims& shape);

/// Where a storage's bytes are.
struct StorageMemory {
  BufferHandle buffer;  ///< null where the file does not have them
  int64_t offset = 0;   ///< bytes; a multiple of 16
  uint64_t size = 0;
};
/// A view of a storage, with strides and offset in elements. Raises ValueError, which names the storage by `key`,
/// where it would leave the storage.
Array array_in_storage(const TensorName& tensor, const StorageMemory& memory, std::string_view key, Dtype dtype,
                       std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t offset);

/// Raises ValueError where a byte of a bool array is neither 0 nor 1: code that reads it as a bool could do anything.
void check_bools(const TensorName& tensor, std::span<const uint8_t> bytes);

}  // namespace iruka::nn
