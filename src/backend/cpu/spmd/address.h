// Addresses as sums, and the constant distance between two of them.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Value.h"

namespace llvm {
class DataLayout;
}

namespace iruka::cpu_backend::spmd {

/// base + offset + the sum of value * scale over the terms, in bytes modulo 2^64.
struct AddressSum {
  const llvm::Value* base = nullptr;
  int64_t offset = 0;
  llvm::SmallVector<std::pair<const llvm::Value*, int64_t>, 4> terms;  ///< sorted by value, each value once

  /// Bytes from `other` to this address, where that is a constant.
  std::optional<int64_t> minus(const AddressSum& other) const;
};

/// `is_exact_cast` says whether the operand of an extension to 64 bits may be split into terms as if the narrow type
/// could not overflow.
AddressSum take_apart(const llvm::Value* pointer, const llvm::DataLayout& layout,
                      llvm::function_ref<bool(const llvm::Value*)> is_exact_cast);

}  // namespace iruka::cpu_backend::spmd
