// The bytes compile() gives: an object file behind a header that tells damage from code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace iruka::cpu_backend {

/// An object file, how many elements its loops take at a time, and whether so many may be slower than one.
struct PackedObject {
  std::string_view object;
  int lanes = 1;
  bool is_uncertain = false;
};

std::string pack_object(const PackedObject& packed);
/// What `code` holds; none where a byte is missing or changed. Its bytes are those of `code`.
std::optional<PackedObject> unpack_object(std::string_view code);

}  // namespace iruka::cpu_backend
