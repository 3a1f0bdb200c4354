// The parameters of a kernel that is launched over a grid: their types, as far as they are known, and their places.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/module.h"
#include "iruka/dtype.h"

namespace iruka::jit {

/// The types of jit/kernels/signature.h. Those in between are dtypes.
enum class RawType : uint8_t { void_ = 0, first_dtype = 1, char_ = 16, pointer = 17, structure = 18, unknown = 19 };

struct RawParameter {
  RawType type = RawType::unknown;  ///< of a pointer: what it points to
  bool is_pointer = false;
  bool is_const = false;  ///< what the pointer points to
  uint32_t size = 0, align = 1;
  size_t offset = 0;  ///< from the head of the block of arguments on

  /// The dtype of values of the type; char is a number of 8 bits.
  std::optional<Dtype> dtype() const;
  /// "const float32*", "int32", "structure of 24 bytes"
  std::string to_string() const;
};

struct RawSignature {
  /// In front of the parameters in a block of arguments: the extents of the grid, and the bytes of dynamic memory.
  static constexpr size_t kHeadBytes = 4 * sizeof(uint32_t);

  bool is_known = false;  ///< else the driver does not tell the parameters
  std::vector<RawParameter> parameters;
  size_t bytes = kHeadBytes;

  /// Puts a parameter behind the others.
  void add(RawParameter parameter);
};

/// What the mangled name of `iruka_signature<...>` says. No value if it is of no kernel.
std::optional<RawSignature> read_signature(std::string_view mangled);
/// Parameters of which the sizes alone are known, as in PTX.
RawSignature signature_of_places(const std::optional<std::vector<ParameterPlace>>& places);

}  // namespace iruka::jit
