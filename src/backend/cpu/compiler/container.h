// The result of compile(): an object file after a header with a checksum.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iruka::cpu_backend {

/// The properties of a kernel over blocks of threads, in bytes and threads.
struct BlockProperties {
  uint32_t shared_bytes = 0, constant_bytes = 0, local_bytes = 0, most_threads = 0;
};

/// An object file, how many elements its loops take at a time, and a number that may be faster; 0: none.
struct PackedObject {
  std::string_view object;
  int lanes = 1;
  int rival_lanes = 0;
  BlockProperties block = {};
};

std::string pack_object(const PackedObject& packed);
/// The contents of `code`, or nothing if a byte is missing or changed. The object refers to the bytes of `code`.
std::optional<PackedObject> unpack_object(std::string_view code);

}  // namespace iruka::cpu_backend
