// Types as they lie in memory.
#pragma once

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"

namespace iruka::cpu_backend::spmd {

/// i1 is a byte; a vector of it would be packed bits.
inline llvm::Type* memory_type(llvm::Type* type) {
  return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext()) : type;
}

/// Whether the elements of a vector of `type` lie in memory as those of an array do.
inline bool has_vector_form(llvm::Type* type, const llvm::DataLayout& layout) {
  return llvm::VectorType::isValidElementType(type) && layout.getTypeSizeInBits(type) == layout.getTypeAllocSizeInBits(type);
}

}  // namespace iruka::cpu_backend::spmd
