// The names that a file of weights may refer to, and what each stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "iruka/dtype.h"

namespace iruka::nn {

enum class Role : uint8_t {
  ordered_mapping,
  size,
  device,
  complex,
  encode,       ///< how protocol 2 writes bytes
  empty_bytes,  ///< the same of none
  rebuild_tensor,
  rebuild_tensor_v2,
  rebuild_tensor_v3,
  rebuild_parameter,
  rebuild_from_type,
  tensor_type,
  storage,
  untyped_storage,
  dtype,
};

/// A global that pickles may use.
struct Global {
  std::string_view module, name;
  Role role;
  std::optional<Dtype> dtype{};  ///< of a storage or dtype
  std::string path() const { return std::string(module) + "." + std::string(name); }
};

/// Null for a name that is not on the list.
const Global* find_global(std::string_view module, std::string_view name);

/// Why a global was refused, and what to do instead.
std::string why_refused(std::string_view module, std::string_view name);

}  // namespace iruka::nn
