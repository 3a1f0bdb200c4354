// The bytes compile() gives: an object file behind a header that tells damage from code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace iruka::cpu_backend {

std::string pack_object(std::string_view object);
/// The object inside `code`; none where a byte is missing or changed. Its bytes are those of `code`.
std::optional<std::string_view> unpack_object(std::string_view code);

}  // namespace iruka::cpu_backend
